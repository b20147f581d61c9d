import Synchronization

/// What others have told a confinement context: nobody but the program knows which thread may use that, so it hears when it is used next.
final class ConfinedNews: Sendable {
    /// Of more rows than that a list is not kept: then whatever the context has may have changed.
    private static let limit = 10_000

    private struct Saved {
        var references = SavedReferences()
        var isEverything = false
    }
    private let saved = Lock(Saved())
    private let waiting = Atomic(false)

    var isWaiting: Bool { waiting.load(ordering: .acquiring) }

    /// There is something to be heard of, from somewhere else too.
    func note() { waiting.store(true, ordering: .releasing) }

    func add(_ more: SavedReferences) {
        saved.withLock { saved in
            saved.references.add(more)
            if saved.references.count > Self.limit { (saved.isEverything, saved.references) = (true, saved.references.withoutLists) }
        }
        note()
    }

    /// All that has not been heard of yet.
    ///
    /// - Parameter known: the objects of the context, asked for where the lists are not kept.
    func take(known: () -> [RowReference]) -> SavedReferences {
        waiting.store(false, ordering: .sequentiallyConsistent)
        var taken = saved.withLock { saved in
            defer { saved = Saved() }
            return saved
        }
        if taken.isEverything { taken.references.updated += known() }
        return taken.references
    }
}

extension SavedReferences {
    fileprivate var count: Int { inserted.count + updated.count + deleted.count }

    fileprivate var withoutLists: SavedReferences {
        SavedReferences(areCorrections: areCorrections, replaced: replaced)
    }

    fileprivate mutating func add(_ more: SavedReferences) {
        inserted += more.inserted
        updated += more.updated
        deleted += more.deleted
        replaced += more.replaced
        areCorrections = areCorrections || more.areCorrections
    }
}

extension NSManagedObjectContext {
    /// Merges what others have told a confinement context, which the calling thread is using. Nothing elsewhere.
    @inline(__always) func hearNews() {
        if let news, news.isWaiting, !isSaving { hear(news) }
    }

    @inline(never) private func hear(_ news: ConfinedNews) {
        merge(news.take { identityMap.objects.map(\.rowReference) })
        acceptReturnedSaves()
    }
}
