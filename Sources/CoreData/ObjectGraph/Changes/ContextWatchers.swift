import Foundation

/// Follows the events of a context, as a list of results does.
protocol ContextWatcher: AnyObject, Sendable {
    /// An event has ended, and everybody was told. Called on the context's queue.
    func eventEnded(_ event: ChangedObjects)
    /// The context has forgotten all of its objects. Called on its queue.
    func contextWasReset()
    /// There is no context any more. Called on any thread.
    func contextEnded()
}

/// Who follows the events of one context. Held weakly; may be asked on any thread.
final class ContextWatchers: Sendable {
    private struct Entry {
        weak var watcher: (any ContextWatcher)?
        /// The indexes of the entities whose objects it wants to hear of, also of those that the context has not read.
        let entities: Set<Int>
        /// Those that it reads across relationships.
        let relatedEntities: Set<Int>
    }

    private let entries = Lock<[Entry]>([])

    deinit { for watcher in all { watcher.contextEnded() } }

    private var all: [any ContextWatcher] { entries.withLock { $0.compactMap(\.watcher) } }

    /// The one of a kind, where there is one.
    func first<Watcher: ContextWatcher>(_ kind: Watcher.Type) -> Watcher? { all.lazy.compactMap { $0 as? Watcher }.first }

    func add(_ watcher: any ContextWatcher, of entities: Set<Int>, reading relatedEntities: Set<Int> = []) {
        entries.withLock { entries in
            entries.removeAll { $0.watcher == nil || $0.watcher === watcher }
            entries.append(Entry(watcher: watcher, entities: entities.union(relatedEntities), relatedEntities: relatedEntities))
        }
    }

    func remove(_ watcher: any ContextWatcher) {
        entries.withLock { $0.removeAll { $0.watcher == nil || $0.watcher === watcher } }
    }

    func tell(_ event: ChangedObjects) { for watcher in all { watcher.eventEnded(event) } }

    func tellOfReset() { for watcher in all { watcher.contextWasReset() } }

    /// The references to objects that somebody wants to hear of.
    func wanted(_ references: [RowReference]) -> [RowReference] { among(references, \.entities) }

    /// The references to objects that somebody reads across relationships.
    func related(_ references: [RowReference]) -> [RowReference] { among(references, \.relatedEntities) }

    private func among(_ references: [RowReference], _ wanted: (Entry) -> Set<Int>) -> [RowReference] {
        let entities = entries.withLock { $0.reduce(into: Set<Int>()) { if $1.watcher != nil { $0.formUnion(wanted($1)) } } }
        return entities.isEmpty ? [] : references.filter { entities.contains(Int($0.entity)) }
    }
}

extension NSManagedObjectContext {
    /// Others have changed objects that this context has not read, and that somebody who follows it wants to hear of.
    func noteUnread(_ updated: [RowReference]) {
        for reference in watchers.wanted(updated) where registeredObject(for: reference)?.state.contains(.rowless) ?? true {
            tracker.noteRefresh(of: object(for: reference))
        }
    }

    /// Others have deleted objects. Of those that somebody reads across relationships he is to look himself at who was related to them: no store
    /// knows that any more, and here it is known only of what has been read.
    ///
    /// - Returns: the objects that show them still.
    /// - Complexity: O(n) in the number of registered objects where there are such, else O(1).
    func noteUnseenDeletes(_ deleted: [RowReference]) -> [RowReference] {
        let gone = watchers.related(deleted).filter { registeredObject(for: $0)?.hasReadAllEnds != true }
        if gone.isEmpty { return [] }
        tracker.noteGone(Set(gone.map { Int($0.entity) }))
        let references = Set(gone)
        return registry.objects.filter { $0.hasRead(aReferenceTo: references) }.map(\.rowReference)
    }
}

extension NSManagedObject {
    /// Whether all who are related to the object are known here, or its delete was decided here.
    fileprivate var hasReadAllEnds: Bool {
        if !state.isDisjoint(with: [.deleted, .inserted]) { return true }
        return !state.contains(.rowless) && scope.shape.toManys.indices.allSatisfy { existingContents($0)?.members != nil }
    }

    /// Whether the row that the object has been read with refers to one of others.
    fileprivate func hasRead(aReferenceTo others: Set<RowReference>) -> Bool {
        guard let row = committedRow, !state.contains(.deleted) else { return false }
        return scope.shape.layout.referenceSlots.contains { row.reference($0).map(others.contains) ?? false }
    }
}
