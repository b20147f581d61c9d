import Foundation

@testable import CoreData

/// Contexts that have nothing to do with the file: one on another file of the same model, one of another model. Their rows have the same keys.
final class WalkStrangers {
    private let walked: [NSManagedObjectContext]
    private let rows: Int

    init(_ home: StoreHome) throws {
        let same = NSPersistentStoreCoordinator(managedObjectModel: WalkModel.make())
        try same.addPersistentStore(ofType: home.kind.type, configurationName: nil, at: home.url("Stranger.sqlite"), options: nil)
        let other = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try other.addPersistentStore(ofType: home.kind.type, configurationName: nil, at: home.url("Other.sqlite"), options: nil)
        walked = [Library.context(on: same), Library.context(on: other)]
        for kind in WalkModel.Kind.allCases {
            for number in 1...40 {
                let object = NSEntityDescription.insertNewObject(forEntityName: kind.rawValue, into: walked[0])
                object.setValue(-number, forKey: "serial")
                object.setValue(-number, forKey: "number")
            }
        }
        for number in 1...40 {
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: walked[1])
            tag.setValue("\(number)", forKey: "label")
            NSEntityDescription.insertNewObject(forEntityName: "Desk", into: walked[1]).setValue("\(number)", forKey: "room")
        }
        for context in walked { try context.save() }
        rows = try Self.count(walked)
    }

    private static func count(_ contexts: [NSManagedObjectContext]) throws -> Int {
        try contexts.reduce(0) { sum, context in
            try (context.persistentStoreCoordinator?.managedObjectModel.entities ?? []).filter { $0.superentity == nil }.reduce(sum) {
                try $0 + context.count(for: NSFetchRequest<NSManagedObject>(entityName: $1.name ?? ""))
            }
        }
    }

    /// Nobody of the file's contexts reaches the strangers' rows.
    func check() throws {
        let found = try Self.count(walked)
        if found != rows { throw WalkFailure("the strangers have \(found) rows, had \(rows)") }
    }

    private func object(_ step: WalkStep) throws -> NSManagedObject {
        let context = walked[step.c % 4 == 0 ? 1 : 0]
        let names = context.persistentStoreCoordinator?.managedObjectModel.entities.compactMap(\.name).sorted() ?? []
        let request = NSFetchRequest<NSManagedObject>(
            entityName: context === walked[0] ? names[step.a % names.count] : step.a % 2 == 0 ? "Tag" : "Desk"
        )
        let objects = try context.fetch(request).sorted { $0.key < $1.key }
        return objects[step.b % objects.count]
    }

    func perform(_ step: WalkStep, _ walked: WalkedContext, _ walk: FileWalk) throws {
        let stranger = try object(step)
        let id = stranger.objectID
        switch step.kind {
        case .strangerFind: try find(id, walked, walk)
        case .strangerMerge: try merge(stranger, step, walked)
        case .strangerDelete:
            let object = walked.context.object(with: id)
            walked.strangers.append(object)
            walked.context.delete(object)
        default:
            if let found = try? walked.context.existingObject(with: id) {
                throw walk.fail("existingObject gave \(found) for \(id)", walked)
            }
            let object = walked.context.object(with: id)
            walked.strangers.append(object)
            if walk.serial(of: object) != nil { throw walk.fail("\(id) is \(object)", walked) }
            if walked.context.object(with: id).objectID != id { throw walk.fail("\(id) became \(object.objectID)", walked) }
        }
        if walked.strangers.count > 20 { walked.strangers.removeAll { !$0.isDeleted } }
    }

    private func find(_ id: NSManagedObjectID, _ walked: WalkedContext, _ walk: FileWalk) throws {
        for kind in WalkModel.Kind.allCases {
            for predicate in [NSPredicate(format: "SELF == %@", id), NSPredicate(format: "SELF IN %@", [id])] {
                let request = NSFetchRequest<NSManagedObject>(entityName: kind.rawValue)
                request.predicate = predicate
                let found = try walked.context.fetch(request)
                if !found.isEmpty { throw walk.fail("\(predicate) found \(found)", walked) }
            }
        }
    }

    /// A stranger's save is none of the context's business.
    private func merge(_ stranger: NSManagedObject, _ step: WalkStep, _ walked: WalkedContext) throws {
        guard let context = stranger.managedObjectContext else { return }
        let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey]
        let note = Notification(
            name: .NSManagedObjectContextDidSave,
            object: context,
            userInfo: [keys[step.b % 3]: Set(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: stranger.entity.name ?? "")))]
        )
        walked.context.mergeChanges(fromContextDidSave: note)
        let ids = [stranger.objectID.uriRepresentation()]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [keys[step.c % 3]: ids], into: [walked.context])
    }
}
