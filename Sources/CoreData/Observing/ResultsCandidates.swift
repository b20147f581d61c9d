/// The objects that a list of results has to look at because of what has happened.
struct ResultsCandidates {
    /// Objects that something happened to, or to what is read across their relationships.
    private var affected: Set<NSManagedObject>
    /// Objects that may be out of place nevertheless. Something may have happened to them that they will be told of later.
    private var others: Set<NSManagedObject> = []
    private(set) var deleted: Set<NSManagedObject>
    /// Whether it may be any object.
    let mayBeAny: Bool
    private let tellsOthers: Bool

    var objects: [NSManagedObject] { Array(affected.union(others)) }

    init(_ event: ChangedObjects, of list: ResultsList, in context: NSManagedObjectContext) {
        let found = Self.affected(by: event, list.query, context)
        (affected, deleted) = (found.objects, event.deleted)
        tellsOthers = found.mayBeAny || event.isOfUnknown
        mayBeAny = tellsOthers || !list.query.relatedEntities.isDisjoint(with: event.goneEntities)
        if context.tracker.hasNews { addMembers(of: list, changedSince: context.tracker.unended, context) }
    }

    mutating func add(_ objects: [NSManagedObject]) { others.formUnion(objects) }

    /// Members that have changed after the latest event ended are not in order either. What is no member may never be: its own event says that.
    private mutating func addMembers(of list: ResultsList, changedSince event: ChangedObjects, _ context: NSManagedObjectContext) {
        let found = Self.affected(by: event, list.query, context)
        others.formUnion(found.mayBeAny ? list.objects : found.objects.filter(list.members.contains))
        deleted.formUnion(event.deleted)
    }

    private static func affected(
        by event: ChangedObjects,
        _ query: ResultsQuery,
        _ context: NSManagedObjectContext
    ) -> (objects: Set<NSManagedObject>, mayBeAny: Bool) {
        var objects: Set<NSManagedObject> = []
        for changed in [event.inserted, event.updated, event.deleted, event.refreshed] {
            for object in changed where query.concerns(object) { objects.insert(object) }
        }
        if query.relatedEntities.isEmpty { return (objects, false) }
        let owners = RelatedChanges(context: context, pending: event.all).owners(of: query.entity, reading: query.paths)
        return (objects.union(owners ?? []), owners == nil)
    }

    /// Whether a member that stays where it is counts as updated.
    func isTold(_ member: NSManagedObject) -> Bool { tellsOthers || affected.contains(member) }
}
