import Foundation

/// One reader of live results: waits for it, and gathers what has changed since it came last.
// Sendable: the signal is behind a lock, the rest is used on the context's queue.
final class LiveFeed: @unchecked Sendable {
    private struct Signal {
        /// Whether there may be something to give.
        var isSet = true
        var hasEnded = false
        /// Copies of one iterator may wait at once.
        var readers: [CheckedContinuation<Void, Never>] = []
    }

    private let request: LiveRequest
    private let signal = Lock(Signal())
    private var tracker: ResultsTracker?
    private var foreignSaves: ForeignSaves?
    /// What was given last. Held, so that an object that is new is none of these.
    private var given: [NSManagedObject] = []
    /// What has happened since, to objects that are results now.
    private var (entered, moved, changed): (Set<NSManagedObject>, Set<NSManagedObject>, Set<NSManagedObject>) = ([], [], [])

    init(_ request: LiveRequest) { self.request = request }

    func next() async throws -> LiveResults.Snapshot? {
        while await hasNews() {
            guard let context = request.context else { return nil }
            if let snapshot = try await context.perform({ try self.snapshot(context) }) { return snapshot }
        }
        return nil
    }

    /// Waits for something to give; false when nothing will come any more.
    private func hasNews() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let waits = signal.withLock { signal in
                    if signal.isSet || signal.hasEnded || Task.isCancelled { return false }
                    signal.readers.append(reader)
                    return true
                }
                if !waits { reader.resume() }
            }
        } onCancel: {
            wake { _ in }
        }
        return signal.withLock { signal in
            defer { signal.isSet = false }
            return !signal.hasEnded && !Task.isCancelled && request.context != nil
        }
    }

    private func wake(_ change: (inout Signal) -> Void) {
        let readers = signal.withLock { signal in
            change(&signal)
            defer { signal.readers = [] }
            return signal.readers
        }
        for reader in readers { reader.resume() }
    }

    /// What is different by now; nil where nothing is, after all.
    private func snapshot(_ context: NSManagedObjectContext) throws -> LiveResults.Snapshot? {
        let isFirst = tracker?.list == nil
        do { if isFirst { try start(context) } } catch {
            signal.withLock { $0.isSet = true }
            throw error
        }
        guard let objects = tracker?.list?.objects else { return nil }
        // After a reset, others stand for the same rows.
        let snapshot = isFirst ? afterFetch(objects) : afterChanges(objects)
        given = objects
        (entered, moved, changed) = ([], [], [])
        return snapshot
    }

    private func start(_ context: NSManagedObjectContext) throws {
        let tracker = try request.makeTracker(context)
        // NB: a reader may go, on any thread, while others are told.
        tracker.didChange = { [weak self] in self?.note($0) }
        tracker.didReset = { [weak self] in self?.wake { $0.isSet = true } }
        tracker.hasEnded = { [weak self] in self?.wake { $0.hasEnded = true } }
        // Before the first look, so that nothing is missed between.
        foreignSaves = .following(context)
        try tracker.fetch()
        self.tracker = tracker
    }

    private func note(_ change: ResultsChange) {
        for (object, _) in change.deletions {
            entered.remove(object)
            moved.remove(object)
            changed.remove(object)
        }
        entered.formUnion(change.insertions.lazy.map(\.object))
        moved.formUnion(change.moves.lazy.map(\.object))
        changed.formUnion(change.updates.lazy.map(\.object))
        wake { $0.isSet = true }
    }

    private func afterFetch(_ objects: [NSManagedObject]) -> LiveResults.Snapshot {
        let (ids, former) = (objects.map(\.objectID), given.map(\.objectID))
        let (now, before) = (Set(ids), Set(former))
        return LiveResults.Snapshot(
            ids: ids,
            inserted: ids.filter { !before.contains($0) },
            removed: former.filter { !now.contains($0) },
            moved: Self.moved(from: former.filter(now.contains), to: ids.filter(before.contains)),
            changed: ids.filter(before.contains)
        )
    }

    /// Those that stand elsewhere among the others: all but the longest row of them that has kept its order. Both lists have the same members.
    private static func moved(from former: [NSManagedObjectID], to ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        let places = Dictionary(uniqueKeysWithValues: former.enumerated().map { ($1, $0) })
        let kept = Set(LongestRise(of: ids.map { places[$0] ?? 0 }).indices)
        return ids.indices.filter { !kept.contains($0) }.map { ids[$0] }
    }

    /// Nil where what happened has taken itself back.
    private func afterChanges(_ objects: [NSManagedObject]) -> LiveResults.Snapshot? {
        let (now, before) = (Set(objects), Set(given))
        let inserted = objects.filter { !before.contains($0) }
        let removed = given.filter { !now.contains($0) }
        // What went and came back may have come back elsewhere.
        let elsewhere = moved.union(entered).intersection(before)
        let touched = objects.filter { before.contains($0) && (elsewhere.contains($0) || changed.contains($0)) }
        if inserted.isEmpty, removed.isEmpty, touched.isEmpty { return nil }
        return LiveResults.Snapshot(
            ids: objects.map(\.objectID),
            inserted: inserted.map(\.objectID),
            removed: removed.map(\.objectID),
            moved: touched.filter(elsewhere.contains).map(\.objectID),
            changed: touched.map(\.objectID)
        )
    }
}
