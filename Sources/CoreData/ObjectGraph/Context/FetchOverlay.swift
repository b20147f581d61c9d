import Foundation
import Predicates

/// A fetch with unsaved changes: the store answers for all other rows, the context for its own, and the two are merged in order.
// A class: it is handed from one step of a fetch to the next.
final class FetchOverlay {
    private let query: FetchQuery
    private let candidates: [NSManagedObject]
    private let inherited: InheritedChanges
    private let excludedRows: [RowReference]
    /// Whether any row may be affected: then the store gives all, and everything is done in memory.
    let affectsAll: Bool
    /// How many rows at most the store may count though the context has changed them; nil where they are excluded. They are dropped afterwards.
    private let changedRowLimit: Int?
    /// Whether the store may give rows of objects that were used before they were there: those count as deleted for nothing else, and are back then.
    let mayGiveMissing: Bool
    /// Whether contexts above may give keys at any moment to objects that are not excluded.
    private let isBelowOthers: Bool
    /// Whether objects that this context has read stand in for others by now, of the contexts above: then the answer is that of a context which
    /// has read nothing.
    let isSeenAfresh: Bool
    private let test: RowTest?
    private let order: ResultsOrder
    private let index: PendingIndex

    /// Nil where no unsaved change is of the fetched entity, or is read across a relationship.
    ///
    /// - Throws: a store's error: an object with unsaved changes cannot be read, so nobody knows whether it matches.
    init?(_ query: FetchQuery, _ context: NSManagedObjectContext) throws {
        let (test, order) = (query.predicate.flatMap { RowTest($0, query.entity) }, ResultsOrder(query.sortDescriptors, query.entity))
        (self.test, self.order) = (test, order)
        // Tests and orders of stored attributes say themselves what they read.
        let isPlain = (query.predicate == nil || test != nil) && order.readsStoredAttributes
        let paths = isPlain ? nil : ReadPaths(query.predicate, query.sortDescriptors)
        index = context.tracker.index
        let entities = query.includesSubentities ? query.entity.subtree : query.entity.index..<query.entity.index + 1
        let related = paths.map { RelatedChanges.entities(on: $0, of: query.entity) } ?? []
        let inherited =
            context.parent == nil
            ? InheritedChanges(noneIn: context) : InheritedChanges(context, entities: Set(entities).union(related))
        let isAcross = paths?.readRelationships(of: query.entity) ?? false
        let isHidden = (isAcross || !query.sortDescriptors.isEmpty) && inherited.areHidden(members: isAcross)
        isSeenAfresh = isHidden && paths?.areStored(of: query.entity) ?? true
        func isAsked(_ entity: Int, _ store: Int32) -> Bool { entities.contains(entity) && query.stores?.contains(store) ?? true }
        if context.tracker.objects.count >= Self.fewObjects, let probe = PendingProbe(query.predicate, query.entity, test, paths, context) {
            let (found, stored) = index.objects(probe.key, probe.values, in: context.tracker.objects)
            self.inherited = inherited.only { isAsked(Int($0.entity), $0.store) }
            (self.query, affectsAll, excludedRows, changedRowLimit) = (query, false, self.inherited.references, stored)
            (isBelowOthers, mayGiveMissing) = (context.parent != nil, true)
            candidates = try found.filter { object in
                if !object.state.isDisjoint(with: .pending) { try Self.look(for: object) }
                return object.state.isDisjoint(with: .deleted) && !object.state.isDisjoint(with: .pending) && !object.isForeign
                    && isAsked(Int(object.scope.entityIndex), object.scope.store)
            }
            return
        }
        (changedRowLimit, isBelowOthers) = (nil, false)
        let pending = Array(context.tracker.objects.filter { !$0.state.isDisjoint(with: .pending) && !$0.isForeign })
        guard !pending.isEmpty || !inherited.isEmpty else { return nil }
        let owners: Set<NSManagedObject>? =
            if let paths {
                RelatedChanges(context: context, pending: try pending + inherited.related(outside: entities, paths))
                    .owners(of: query.entity, reading: paths)
            } else {
                []
            }
        let affected = Self.distinct(pending, owners ?? []).filter { isAsked(Int($0.scope.entityIndex), $0.scope.store) }
        affectsAll = owners == nil
        self.inherited = inherited.only { isAsked(Int($0.entity), $0.store) }
        guard !affected.isEmpty || !self.inherited.isEmpty || affectsAll else { return nil }
        self.query = query
        mayGiveMissing = affected.contains(where: \.isMissing)
        excludedRows = affected.lazy.filter { !$0.isMissing }.map(\.rowReference) + self.inherited.references
        candidates = try affected.filter { object in
            try Self.look(for: object)
            return !object.state.contains(.deleted)
        }
    }

    /// Of a fault that nobody has read, or whose row others may have deleted since, it may turn out that it is gone.
    private static func look(for object: NSManagedObject) throws {
        if object.isFault, object.state.contains(.rowless) || object.mayBeStale { try object.fireThrowing() }
    }

    /// So few objects are looked at rather than listed.
    private static let fewObjects = 16

    /// What is done in memory because of unsaved changes.
    var explanation: String {
        if isSeenAfresh { return "nothing that this context has read: contexts above have changed it since, and count" }
        if affectsAll { return "predicate, order and limit: unsaved changes may concern any object (a relationship has no inverse)" }
        let count = candidates.count + inherited.references.count
        let how = changedRowLimit == nil ? "tested one by one" : "found by their value"
        return "\(count) object\(count == 1 ? "" : "s") with unsaved changes: \(how), and put among the results"
    }

    /// Whether the store's number of rows may count some that the context has changed.
    var mayCountChangedRows: Bool { isSeenAfresh || affectsAll || (changedRowLimit ?? 0) > 0 }

    /// Whether the values of all results have to be known.
    var isMergedByOrder: Bool { affectsAll || !query.sortDescriptors.isEmpty }

    /// Whether an object is concerned that the stores may know by another key in a moment.
    var hasTemporaryKeys: Bool { isBelowOthers || excludedRows.contains { $0.key < 0 } }

    /// The objects of both, those with unsaved changes first and in the order of their changes.
    private static func distinct(_ pending: [NSManagedObject], _ related: Set<NSManagedObject>) -> [NSManagedObject] {
        pending
            // What was inserted and deleted again may still be led to, from what was deleted too.
            + related.filter { $0.state.contains(.registered) && $0.state.isDisjoint(with: .pending.union(.detached)) }.sorted {
                $0.key < $1.key
            }
    }

    /// What the store is asked: enough rows that limit and offset can be counted after merging.
    var storeQuery: FetchQuery {
        var store = unlimitedQuery
        if query.limit > 0, !affectsAll {
            let (sum, isOverflown) = query.rowsUpToLimit.addingReportingOverflow(changedRowLimit ?? 0)
            store.limit = isOverflown || query.rowsUpToLimit == 0 ? 0 : sum
        }
        return store
    }

    var unlimitedQuery: FetchQuery {
        var store = query
        (store.limit, store.offset) = (0, 0)
        store.excludedRows = excludedRows
        if affectsAll { (store.predicate, store.sortDescriptors) = (nil, []) }
        return store
    }

    /// The context's own objects that match.
    private func matches() throws -> [NSManagedObject] {
        let own = try matching(candidates)
        if inherited.isEmpty { return own }
        let known = Set(candidates)
        return try inherited.objects(matching: query.predicate, test).filter { !known.contains($0) } + own
    }

    private func matching(_ candidates: [NSManagedObject]) throws -> [NSManagedObject] {
        guard let predicate = query.predicate else { return candidates }
        index.noteEvaluations(candidates.count)
        return try candidates.filter { object in
            if let test, !object.isFault { return test.holds(for: object.currentRow) }
            return try predicate.holds(for: object)
        }
    }

    /// All results in order, within limit and offset.
    func merged(into stored: [NSManagedObject]) throws -> [NSManagedObject] {
        let limit = query.rowsUpToLimit
        if affectsAll {
            let matching = try matching(stored) + matches()
            return window(query.sortDescriptors.isEmpty ? matching : order.sorted(matching, limit: limit))
        }
        // What the store takes for a result as it was before it was changed.
        let stored = changedRowLimit == nil ? stored : stored.filter { $0.state.isDisjoint(with: .pending) }
        let own = try matches()
        // As `ownResults()`, so that what is fetched part by part is fetched once.
        if query.sortDescriptors.isEmpty { return isWindow ? window(own + stored) : stored + own }
        return window(order.merged(stored, order.sorted(own, limit: limit)))
    }

    /// The results, where the context's own are as many as are wanted, in no particular order: then no store need be asked.
    func ownResults() throws -> [NSManagedObject]? {
        let wanted = query.rowsUpToLimit
        guard wanted > 0, query.sortDescriptors.isEmpty, !affectsAll, candidates.count + inherited.count >= wanted else { return nil }
        let own = try matches()
        return own.count >= wanted ? window(own) : nil
    }

    private var isWindow: Bool { query.limit > 0 || query.offset > 0 }

    private func window(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        let rest = objects.dropFirst(query.offset)
        return Array(query.limit > 0 ? rest.prefix(query.limit) : rest)
    }

    /// The number of results, given that of the stored rows that match.
    func count(_ stored: Int) throws -> Int {
        let rest = max(try stored + matches().count - query.offset, 0)
        return query.limit > 0 ? min(rest, query.limit) : rest
    }
}
