import Foundation
import Synchronization

/// A context as the parent of others.
///
/// Queries go on to the stores: the child itself lays the unsaved changes of all its ancestors over what they answer. What is asked about
/// single objects, the context answers from its unsaved changes, on its queue; where it has none, its own parent answers.
final class ParentContext: GraphParent {
    let context: NSManagedObjectContext
    private weak var child: NSManagedObjectContext?
    /// Whether what came in during a save counts. False for the context that holds just that.
    private let seesIncoming: Bool
    /// What the child heard of last, and how much it knew then.
    private let passedVersions = Atomic(-1)
    /// The child's latest save, where the context keeps such. For the child's queue.
    private(set) weak var keptSave: ChildSave?

    /// The context's own parent, where that is one of these, for what is asked on behalf of the child: the context itself hears nothing then.
    private let above: ParentContext?

    init(_ context: NSManagedObjectContext, of child: NSManagedObjectContext, seesIncoming: Bool = true) {
        self.context = context
        self.child = child
        self.seesIncoming = seesIncoming
        above = (context.parentLink?.source as? ParentContext).map(ParentContext.init(forTransit:))
    }

    private init(forTransit other: ParentContext) {
        (context, seesIncoming, above) = (other.context, other.seesIncoming, other.above)
    }

    private var next: any GraphParent {
        if let above, context.parentLink?.isCut == false { return above }
        return context.parentSource
    }

    var managedObjectModel: NSManagedObjectModel { next.managedObjectModel }
    var isStoreSide: Bool { false }

    func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue? { try next.fetch(query, body) }
    func references(_ query: FetchQuery) throws -> [RowReference]? { try next.references(query) }
    func count(_ query: FetchQuery) throws -> Int? { try next.count(query) }
    func dictionaries(_ query: DictionaryQuery) throws -> [NSDictionary] { try next.dictionaries(query) }
    func persistentStore(numbered number: Int32) -> NSPersistentStore? { next.persistentStore(numbered: number) }

    func permanentKeys(for entity: NSEntityDescription, rows: [Row], store: Int32) throws -> (store: Int32, keys: [Int64]) {
        try next.permanentKeys(for: entity, rows: rows, store: store)
    }

    func pooledKeys(for entity: NSEntityDescription, count: Int, store: Int32) -> (store: Int32, first: Int64)? {
        next.pooledKeys(for: entity, count: count, store: store)
    }

    /// Runs what brings the child references: afterwards it has heard of what the context knows.
    private func answering<Result>(_ body: () throws -> Result) rethrows -> Result {
        try context.identityMap.forwardingTable.names.travelling {
            defer { passNames() }
            return try body()
        }
    }

    /// What the child was told may come from any context above.
    private func passNames() {
        guard let child, passedVersions.load(ordering: .acquiring) != versions(child) else { return }
        forEachContext { $0.passNames(to: child) }
        passedVersions.store(versions(child), ordering: .releasing)
    }

    private func versions(_ child: NSManagedObjectContext) -> Int {
        var sum = 0
        forEachContext { sum += $0.identityMap.names.version }
        return sum << 32 | child.identityMap.names.version & 0xffff_ffff
    }

    private func forEachContext(_ body: (NSManagedObjectContext) -> Void) {
        body(context)
        above?.forEachContext(body)
    }

    /// Runs a request on the context's queue, with the context that holds what came in while it saves: that one is asked first.
    private func ask<Result>(_ body: (_ incoming: NSManagedObjectContext?) throws -> Result) rethrows -> Result {
        try context.queue.request {
            let incoming = seesIncoming ? context.incoming : nil
            incoming?.catchUp()
            incoming?.passNames(to: context)
            context.catchUp()
            // As before a fetch of the context's own: what it has deleted is led to by nothing.
            context.propagateDeletes()
            return try body(incoming)
        }
    }

    private func state(of reference: RowReference, _ incoming: NSManagedObjectContext?) -> UnsavedState {
        guard let incoming else { return context.unsavedState(of: reference) }
        let state = incoming.unsavedState(of: reference)
        guard case .unchanged(let reference) = state else { return state }
        return context.unsavedState(of: reference)
    }

    func row(for reference: RowReference) throws -> Row? {
        try answering {
            switch ask({ state(of: reference, $0) }) {
            case .row(let row): row
            case .deleted: nil
            case .unchanged(let reference): try next.row(for: reference)
            }
        }
    }

    func cachedRow(for reference: RowReference) -> Row? {
        answering {
            switch ask({ state(of: reference, $0) }) {
            case .row(let row): row
            case .deleted: nil
            case .unchanged(let reference): next.cachedRow(for: reference)
            }
        }
    }

    func rows(for references: [RowReference]) throws -> [Row?] { try answering { try newestRows(references) } }

    private func newestRows(_ references: [RowReference]) throws -> [Row?] {
        var unchanged: [(index: Int, reference: RowReference)] = []
        let states = ask { incoming in references.map { state(of: $0, incoming) } }
        var rows: [Row?] = states.enumerated().map { index, state in
            switch state {
            case .row(let row): return row
            case .deleted: return nil
            case .unchanged(let reference):
                unchanged.append((index, reference))
                return nil
            }
        }
        for (place, row) in zip(unchanged, try next.rows(for: unchanged.map(\.reference))) { rows[place.index] = row }
        return rows
    }

    func forgetRows(_ references: [RowReference]) { next.forgetRows(references) }

    func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow] {
        try answering { try newestRelatedRows(relationship, owners) }
    }

    private func newestRelatedRows(_ relationship: NSRelationshipDescription, _ owners: [RowReference]) throws -> [RelatedRow] {
        let (known, unchanged) = ask { incoming in
            let first = incoming?.unsavedMembers(of: relationship, owners: owners) ?? (known: [], unchanged: owners)
            let second = context.unsavedMembers(of: relationship, owners: first.unchanged)
            return (first.known + visible(second.known, along: relationship, in: incoming), second.unchanged)
        }
        guard !unchanged.isEmpty else { return known }
        let above = try next.relatedRows(relationship, owners: unchanged)
        return known + ask { visible(visible(above, along: relationship, in: context), along: relationship, in: $0) }
    }

    /// Without the members that a context has deleted or led elsewhere.
    private func visible(
        _ members: [RelatedRow],
        along relationship: NSRelationshipDescription,
        in context: NSManagedObjectContext?
    ) -> [RelatedRow] {
        guard let context else { return members }
        return members.compactMap { context.unsavedMember($0, of: relationship) }
    }

    /// From below upwards, as changes travel: what leaves a context after it was asked is found twice, not missed.
    func unsavedRows(of entities: Set<Int>) -> [UnsavedRow] {
        answering {
            let own = ask { overlay($0?.unsavedRows(of: entities) ?? [], over: context.unsavedRows(of: entities)) }
            return overlay(own, over: next.unsavedRows(of: entities))
        }
    }

    private func overlay(_ rows: [UnsavedRow], over above: [UnsavedRow]) -> [UnsavedRow] {
        if rows.isEmpty || above.isEmpty { return rows + above }
        let newest = { [table = context.identityMap.forwardingTable] (row: UnsavedRow) in
            row.reference.key < 0 ? table[row.reference.key] ?? row.reference : row.reference
        }
        let overridden = Set(rows.map(newest))
        return above.filter { !overridden.contains(newest($0)) } + rows
    }

    func requireUnsaved(_ updates: [UnsavedUpdate]) throws {
        try context.queue.request {
            let receiving = context.receivingContext
            receiving.catchUp()
            try receiving.requireNoneReturned(updates.lazy.map(\.reference))
            try receiving.tellingWhyGone { try receiving.requireUnsaved(updates) }
        }
    }

    /// The changes become unsaved changes of the context; while it saves, they wait and count as its own for whoever asks.
    func save(_ changes: ChangeSet, willCommit: () -> Void) throws -> SaveReceipt {
        let receipt = SaveReceipt(groups: changes.groups.map { SaveReceipt.Group(store: $0.store, insertedKeys: $0.insertedKeys) })
        guard !changes.isEmpty else { return receipt }
        try context.identityMap.forwardingTable.names.travelling {
            try context.queue.request { try submit(changes, to: context.receivingContext) }
            context.tellChildren(of: changes, but: child)
        }
        return receipt
    }

    func announceSave() {
        context.queue.request {
            if !context.isSaving { context.queue.whileReceiving { context.processPendingChanges() } }
        }
    }
}

extension ParentContext {
    /// Called on the context's queue.
    private func submit(_ changes: ChangeSet, to receiving: NSManagedObjectContext) throws {
        // On the queue: whatever was let in is there when the context is saved for the last time.
        try context.admitSave(of: child)
        child?.passNames(to: context)
        if receiving !== context { child?.passNames(to: receiving) }
        let corrections = try context.queue.whileReceiving {
            receiving.catchUp()
            try receiving.requireNothingReturned(changes)
            // Nobody observes what stands between.
            return try receiving.tellingWhyGone {
                receiving !== context ? try receiving.receive(changes) : try receiving.receiveSilently(changes)
            }
        }
        context.identityMap.forwardingTable.returned.remove(changes.insertedReferences.map { context.forwarded($0).identity })
        keptSave = context.keep(changes, from: child)
        context.tellChildren(of: corrections)
    }
}

extension ChangeSet.Group {
    fileprivate var insertedKeys: ContiguousArray<Int64> { ContiguousArray(inserts.map(\.key)) }
}

/// What a context says about one object that a child asks for.
enum UnsavedState {
    case row(Row)
    case deleted
    /// No unsaved change; the reference may be a newer form of the one asked for.
    case unchanged(RowReference)
}

extension NSManagedObjectContext {
    func unsavedState(of reference: RowReference) -> UnsavedState {
        let reference = forwarded(reference)
        guard let object = registeredObject(for: reference) else { return .unchanged(reference) }
        if object.state.contains(.deleted) { return .deleted }
        guard !object.state.isDisjoint(with: [.inserted, .updated]), !object.state.contains(.rowless) else { return .unchanged(reference) }
        return .row(rowForChild(object))
    }

    /// The row as a child may keep it. A save under way may be writing into a row that is the object's own: then it is a copy.
    private func rowForChild(_ object: NSManagedObject) -> Row {
        guard queue.isLent, object.state.contains(.ownRow), !object.state.contains(.sharedRow) else { return object.shareRow() }
        return Row(OwnRow.placing.withLock { object.own.copy(keepsBase: false) })
    }

    func unsavedRows(of entities: Set<Int>) -> [UnsavedRow] {
        guard hasChanges else { return [] }
        return tracker.objects.compactMap { object in
            guard !object.state.isDisjoint(with: .pending), entities.contains(Int(object.scope.entityIndex)) else { return nil }
            let state: UnsavedRow.State =
                object.state.contains(.deleted) ? .deleted : object.state.contains(.rowless) ? .unread : .row(rowForChild(object))
            return UnsavedRow(reference: object.rowReference, state: state)
        }
    }

    /// A member of an owner without unsaved changes here, as it is here: nil where it was deleted or led elsewhere.
    func unsavedMember(_ related: RelatedRow, of relationship: NSRelationshipDescription) -> RelatedRow? {
        guard let member = registeredObject(for: related.reference), !member.state.isDisjoint(with: .pending) else { return related }
        guard !isElsewhere(member, than: related.owner, along: relationship) else { return nil }
        var related = related
        if !member.state.contains(.rowless) { related.row = rowForChild(member) }
        return related
    }

    /// Whether this context has deleted an object, or changed its owner, so that it is in a to-many relationship above, but not here.
    func isElsewhere(_ member: NSManagedObject, than owner: Int64, along relationship: NSRelationshipDescription) -> Bool {
        if member.state.isSuperset(of: [.deleted, .propagated]) { return true }
        guard let inverse = relationship.inverse, case .toOne(let slot, _)? = member.scope.shape.properties[inverse.name],
            !member.state.contains(.rowless), member.isChanged(slot)
        else { return false }
        return member.reference(slot).map { forwarded($0).key } != owner
    }

    /// The members of a to-many relationship, for those owners of which this context has unsaved changes to it; and the other owners.
    func unsavedMembers(
        of relationship: NSRelationshipDescription,
        owners: [RowReference]
    ) -> (known: [RelatedRow], unchanged: [RowReference]) {
        var (known, unchanged): ([RelatedRow], [RowReference]) = ([], [])
        for asked in owners {
            let reference = forwarded(asked)
            guard let owner = registeredObject(for: reference),
                case .toMany(let index, _)? = owner.scope.shape.properties[relationship.name],
                owner.state.contains(.inserted) || owner.existingContents(index)?.hasChanges == true
            else {
                unchanged.append(reference)
                continue
            }
            for (index, member) in owner.members(of: index).enumerated() where !member.state.contains(.deleted) {
                known.append(
                    RelatedRow(
                        owner: reference.key,
                        row: member.state.contains(.rowless) ? nil : rowForChild(member),
                        reference: member.rowReference,
                        position: relationship.isOrdered ? Int64(index) : nil
                    )
                )
            }
        }
        return (known, unchanged)
    }
}
