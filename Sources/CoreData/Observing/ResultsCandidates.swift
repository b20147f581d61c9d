/// The objects that a list of results has to look at because of what has happened.
struct ResultsCandidates {
    /// Objects that something happened to.
    private var changed: Set<NSManagedObject>
    /// Objects that may be out of place nevertheless: by what is read across their relationships, or by what they will be told of later.
    private var others: Set<NSManagedObject>
    private(set) var deleted: Set<NSManagedObject>
    /// Whether it may be any object.
    let mayBeAny: Bool
    private let tellsOthers: Bool

    var objects: [NSManagedObject] { Array(changed.union(others)) }

    init(_ event: ChangedObjects, of list: ResultsList, in context: NSManagedObjectContext) {
        let owners = Self.owners(of: event, list.query, context)
        (changed, others, deleted) = (Self.changed(in: event, list.query), owners ?? [], event.deleted)
        // What a limit has left out does not come in by what happens to another.
        if list.query.isCut { others = others.filter(list.members.contains) }
        tellsOthers = owners == nil || event.isOfUnknown
        mayBeAny = tellsOthers || !list.query.relatedEntities.isDisjoint(with: event.goneEntities)
        if context.tracker.hasNews { addMembers(of: list, changedSince: context.tracker.unended, context) }
    }

    mutating func add(_ objects: [NSManagedObject]) { others.formUnion(objects) }

    /// Members that have changed after the latest event ended are not in order either. What is no member may never be: its own event says that.
    private mutating func addMembers(of list: ResultsList, changedSince event: ChangedObjects, _ context: NSManagedObjectContext) {
        let owners = Self.owners(of: event, list.query, context)
        let found = owners?.union(Self.changed(in: event, list.query)).filter(list.members.contains)
        others.formUnion(found ?? Set(list.objects))
        deleted.formUnion(event.deleted)
    }

    private static func changed(in event: ChangedObjects, _ query: ResultsQuery) -> Set<NSManagedObject> {
        Set([event.inserted, event.updated, event.deleted, event.refreshed].joined().filter(query.concerns))
    }

    /// Those of which what is read across relationships may have changed; nil where it may be any.
    private static func owners(
        of event: ChangedObjects,
        _ query: ResultsQuery,
        _ context: NSManagedObjectContext
    ) -> Set<NSManagedObject>? {
        if query.relatedEntities.isEmpty { return [] }
        return RelatedChanges(context: context, pending: event.all).owners(of: query.entity, reading: query.paths)
    }

    /// Whether a member that stays where it is counts as updated.
    func isTold(_ member: NSManagedObject) -> Bool { tellsOthers || changed.contains(member) }
}
