import Foundation

@testable import CoreData

/// What comes into the file, and who is told of it.
extension GraphWalk {
    /// Saves to the file.
    func save(_ context: NSManagedObjectContext) throws {
        note("save", context)
        let above = above(context)
        try telling([context] + above.prefix(1)) { for context in [context] + above { try context.save() } }
        if merging == .never { try readAnew(context) }
        try expect(try picture(context), try picture(reader()), "after a save")
    }

    func saveIntoParent(_ context: NSManagedObjectContext) throws {
        note("save into the parent", context)
        try telling([context]) { try context.save() }
        context.refreshAllObjects()
        guard let parent = context.parent else { return }
        try expect(try picture(context), try picture(parent), "after a save into the parent")
    }

    /// Changes or deletes an object in the file, below the contexts; whoever asked for it is told.
    func batch(_ context: NSManagedObjectContext) throws {
        guard let entity = Self.roots.randomElement(using: &random), let object = try any(entity, context), !object.objectID.isTemporaryID
        else { return }
        let label = Self.label(object)
        let request = chance(2) ? NSBatchDeleteRequest(objectIDs: [object.objectID]) : relabelling(object)
        note("\(type(of: request)) of \(label)", context)
        let done = try context.executeCollectingIDs(request)
        let changes: [AnyHashable: Any] = [NSUpdatedObjectIDsKey: done.updated, NSDeletedObjectIDsKey: done.deleted]
        let shared = above(contexts[0])
        let all = shared.reversed() + contexts.filter { !shared.contains($0) }
        let told = merging == .atOnce ? all : all.filter { $0 === context || above(context).contains($0) }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: told)
        try checkFile()
    }

    private func relabelling(_ object: NSManagedObject) -> NSPersistentStoreRequest {
        last += 1
        let name = object.entity.name ?? ""
        let request = NSBatchUpdateRequest(entityName: name)
        request.predicate = NSPredicate(format: "SELF == %@", object)
        request.propertiesToUpdate = [Self.labels[name] ?? "": "\(name) \(last)"]
        return request
    }

    /// Saves, and tells the other contexts, where they are to hear of it.
    private func telling(_ sources: [NSManagedObjectContext], _ save: () throws -> Void) throws {
        let observers = sources.map { source in
            NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: source, queue: nil) {
                [contexts, merging, followers] notification in
                guard merging == .atOnce else { return }
                let others = contexts.filter { $0 !== source && $0 !== source.parent && (followers.isEmpty || $0.parent === source) }
                for other in others { other.mergeChanges(fromContextDidSave: notification) }
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        do { try save() } catch { throw fail("the save failed: \(error)") }
        try checkFile()
        guard merging == .atOnce else { return }
        for (follower, context) in zip(followers, contexts) { try follower.merge(into: above(context).reversed() + [context]) }
    }
}
