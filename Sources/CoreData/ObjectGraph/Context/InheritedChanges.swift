import Foundation
import Predicates

/// The unsaved changes of the contexts above a context, as its fetches see them.
///
/// An object that this context has changed itself is not among them. One that it has read, but not changed, matches by what the contexts
/// above say, as a row in a file would, and keeps its values here.
struct InheritedChanges {
    private let context: NSManagedObjectContext
    private var rows: [UnsavedRow]
    private let showsOldValues: Bool
    private let holdsOldMembers: Bool

    init(_ context: NSManagedObjectContext, entities: Set<Int>) {
        self.context = context
        let all = context.parentSource.unsavedRows(of: entities)
        context.catchUp()
        var (shows, holds) = (false, false)
        rows = all.filter { change in
            guard let object = context.registeredObject(for: change.reference) else { return true }
            guard object.state.isDisjoint(with: .pending) else { return false }
            holds = holds || object.hasReadMembers
            if !object.isFault, case .row(let row) = change.state, object.currentRow !== row { shows = true }
            return true
        }
        (showsOldValues, holdsOldMembers) = (shows, holds)
    }

    /// Those of a context that has no context above it: none.
    init(noneIn context: NSManagedObjectContext) {
        self.context = context
        context.catchUp()
        (rows, showsOldValues, holdsOldMembers) = ([], false, false)
    }

    var isEmpty: Bool { rows.isEmpty }
    var count: Int { rows.count }

    /// Whether this context has objects, read before, that the contexts above have changed since, and shows them as they were.
    ///
    /// - Parameter members: whether what their relationships hold counts too.
    func areHidden(members: Bool) -> Bool { showsOldValues || members && holdsOldMembers }

    var references: [RowReference] { rows.map { context.forwarded($0.reference) } }

    func only(_ isIncluded: (RowReference) -> Bool) -> InheritedChanges {
        if rows.isEmpty { return self }
        var part = self
        part.rows = rows.filter { isIncluded($0.reference) }
        return part
    }

    /// This context's objects for those changes that a predicate reads across relationships.
    ///
    /// - Throws: a store's error, as everything here that reads rows which nobody above has read.
    func related(outside entities: Range<Int>, _ paths: ReadPaths) throws -> [NSManagedObject] {
        let readsRelated = paths.paths.contains { $0.count > 1 }
        return try rows.compactMap { change in
            guard readsRelated || !entities.contains(Int(change.reference.entity)) else { return nil }
            return try object(change)
        }
    }

    private func object(_ change: UnsavedRow) throws -> NSManagedObject? {
        switch change.state {
        case .row(let row): context.object(for: change.reference, row: row)
        case .unread: try unread(change.reference)
        case .deleted: nil
        }
    }

    /// The object of a row that nobody above has read; nil where there is none any more.
    private func unread(_ reference: RowReference) throws -> NSManagedObject? {
        let object = context.object(for: reference)
        guard object.state.contains(.rowless) else { return object }
        guard let row = try context.parentSource.row(for: object.rowReference), row.layout === object.scope.shape.layout else {
            return nil
        }
        context.adopt(row, object)
        return object
    }

    /// The objects that match, in the order of their changes.
    func objects(matching predicate: PredicateTree?, _ test: RowTest? = nil) throws -> [NSManagedObject] {
        try rows.compactMap { change in
            if let test, case .row(let row) = change.state { return test.holds(for: row) ? try object(change) : nil }
            if let predicate, let probe = try probe(change), try !predicate.holds(for: probe) { return nil }
            return try object(change)
        }
    }

    /// An object to evaluate: where this context has other values for it, one that is listed nowhere.
    private func probe(_ change: UnsavedRow) throws -> NSManagedObject? {
        guard case .row(let row) = change.state else { return try object(change) }
        let reference = context.forwarded(change.reference)
        if let known = context.registeredObject(for: reference), known.currentRow === row { return known }
        let entity = context.parentSource.managedObjectModel.entitiesInIndexOrder[Int(reference.entity)]
        let scope = context.registry.scope(of: entity, store: reference.store)
        return Construction.make(scope, row, key: reference.key, state: row.isOwn ? [.ownRow, .sharedRow] : [])
    }
}
