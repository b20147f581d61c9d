import Synchronization

/// What others have told a confinement context: nobody but the program knows which thread may use that, so it hears when it is used next.
final class ConfinedNews: Sendable {
    private let summaries = Lock<[Summary]>([])
    private let waiting = Atomic(false)

    var isWaiting: Bool { waiting.load(ordering: .acquiring) }

    /// There is something to be heard of, from somewhere else too.
    func note() { waiting.store(true, ordering: .releasing) }

    func add(_ saved: SavedReferences) {
        summaries.withLock { summaries in
            // What goes down to all children stays apart from what goes to those that follow.
            if summaries.last?.areCorrections != saved.areCorrections { summaries.append(Summary(areCorrections: saved.areCorrections)) }
            summaries[summaries.count - 1].add(saved)
        }
        note()
    }

    /// All that has not been heard of yet, in order.
    func take() -> [SavedReferences] {
        waiting.store(false, ordering: .sequentiallyConsistent)
        return summaries.withLock { summaries in
            defer { summaries = [] }
            return summaries.map(\.references)
        }
    }

    /// What saves have come to, one after the other. A row is in it once, however often it was saved.
    private struct Summary {
        let areCorrections: Bool
        private var inserted: Set<RowReference> = []
        private var updated: Set<RowReference> = []
        private var deleted: Set<RowReference> = []
        private var dropped: Set<RowReference> = []
        private var replaced: [SavedReferences.Replacement] = []
        private var mayLackRelated = false

        init(areCorrections: Bool) { self.areCorrections = areCorrections }

        mutating func add(_ saved: SavedReferences) {
            for reference in saved.inserted {
                // Its delete was taken back: to whom did not hear of that it has changed.
                dropped.remove(reference)
                if deleted.remove(reference) == nil { inserted.insert(reference) } else { updated.insert(reference) }
            }
            // What was inserted too: a context that has saved it into its parent knows it already, and maybe otherwise.
            updated.formUnion(saved.updated)
            for reference in saved.deleted {
                inserted.remove(reference)
                updated.remove(reference)
                deleted.insert(reference)
            }
            dropped.formUnion(saved.dropped)
            replaced += saved.replaced
            mayLackRelated = mayLackRelated || saved.mayLackRelated
        }

        var references: SavedReferences {
            SavedReferences(
                inserted: Array(inserted),
                updated: Array(updated),
                deleted: Array(deleted),
                dropped: Array(dropped),
                areCorrections: areCorrections,
                mayLackRelated: mayLackRelated,
                replaced: replaced
            )
        }
    }
}

extension NSManagedObjectContext {
    /// Merges what others have told a confinement context, which the calling thread is using, and those above it. Nothing elsewhere.
    @inline(__always) func hearNews() {
        if let news { hear(news) }
    }

    @inline(never) private func hear(_ news: ConfinedNews) {
        // One thread at a time uses all of them.
        if let parent, let above = parent.news { parent.hear(above) }
        guard news.isWaiting, !isSaving else { return }
        for saved in news.take() { merge(saved) }
        acceptReturnedSaves()
    }
}
