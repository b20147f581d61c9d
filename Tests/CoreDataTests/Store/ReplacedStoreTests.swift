import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A store that others empty or count back while it is open")
struct ReplacedStoreTests {
    /// What makes another store of a database that stays where it is.
    enum Deed: CaseIterable {
        case empty, destroy

        func run(_ home: StoreHome) throws {
            let other = try Stack(home.url())
            switch self {
            case .empty: _ = try other.coordinator.emptyPersistentStore(try #require(other.coordinator.persistentStores.first))
            case .destroy:
                try other.coordinator.destroyPersistentStore(at: home.url(), ofType: home.kind.type)
                try other.add(home.url())
            }
            let context = other.newContext()
            for label in ["x", "y", "z"] { Tag(context: context).label = label }
            try context.save()
            try other.close()
        }
    }

    @Test(
        "refuses to write old objects over strangers' rows, under any policy, and keeps the changes",
        arguments: StoreKind.allCases,
        Deed.allCases
    )
    func strangers(kind: StoreKind, deed: Deed) throws {
        let home = try StoreHome(kind)
        let stack = try Stack(home.url())
        let context = stack.newContext()
        let tags = ["a", "b", "c"].map { label in
            let tag = Tag(context: context)
            tag.label = label
            return tag
        }
        try context.save()
        try deed.run(home)
        tags[0].label = "edited"
        context.delete(tags[1])
        for policy in NSMergePolicyType.all {
            context.mergePolicy = NSMergePolicy(merge: policy)
            let error = cocoaError(134070) { try context.save() }
            #expect(error?.localizedDescription.contains("emptied or replaced") == true)
        }
        let new = Tag(context: context)
        cocoaError(134070) { try context.obtainPermanentIDs(for: [new]) }
        #expect(tags[0].label == "edited" && tags[0].isUpdated && tags[1].isDeleted && new.isInserted)
        #expect(try home.sql("SELECT group_concat(ZLABEL) FROM (SELECT ZLABEL FROM ZTAG ORDER BY 1)") == "x,y,z")
        #expect(try home.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == "3")
    }

    // * A context that only reads, and one that is new.
    // => Nobody is given strangers' rows for the store's, nor a mixture; what has been read stays as it is.
    @Test("is not read for the old one", arguments: StoreKind.allCases, Deed.allCases)
    func readers(kind: StoreKind, deed: Deed) throws {
        let home = try StoreHome(kind)
        let stack = try Stack(home.url())
        let context = stack.newContext()
        let tags = ["a", "b"].map { label in
            let tag = Tag(context: context)
            tag.label = label
            return tag
        }
        try context.save()
        try deed.run(home)
        for _ in 0..<2 {
            for reader in [context, stack.newContext()] {
                let error = cocoaError(134070) { _ = try reader.fetch(NSFetchRequest<Tag>()) }
                #expect(error?.localizedDescription.contains("emptied or replaced") == true)
                cocoaError(134070) { _ = try reader.count(for: NSFetchRequest<Tag>()) }
            }
        }
        // What a stranger has under the key of an old one, or a new key, one by one.
        let ids = tags.map(\.objectID) + [try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri(3, of: tags[0])))]
        for _ in 0..<2 {
            for id in ids { cocoaError(134070) { _ = try stack.newContext().existingObject(with: id) } }
        }
        #expect(tags.map(\.label) == ["a", "b"])
        context.refreshAllObjects()
        cocoaError(134070) { _ = try context.fetch(NSFetchRequest<Tag>()) }
        #expect(tags.allSatisfy { $0.label == nil })
        let store = try #require(stack.coordinator.persistentStores.first)
        try stack.coordinator.remove(store)
        try stack.add(home.url())
        #expect(try stack.newContext().fetch(NSFetchRequest<Tag>()).compactMap(\.label).sorted() == ["x", "y", "z"])
    }

    // * Another version of the program has brought the file to its model, as a migration does: the identifier stays.
    // => Nothing is written that it could not read; tables that somebody has added disturb nobody.
    @Test("is not used any more once it is of another model, whose numbers and columns mean something else")
    func migrated() throws {
        let home = try StoreHome(.file)
        let stack = try Stack(home.url())
        let context = stack.newContext()
        let tag = Tag(context: context)
        tag.label = "a"
        try context.save()
        _ = try home.sql("CREATE TABLE strangers (x); ALTER TABLE ZTAG ADD COLUMN strange")
        #expect(try context.count(for: NSFetchRequest<Tag>()) == 1)
        tag.label = "b"
        try context.save()
        let connection = try Connection(path: home.url().path, mode: .readWrite)
        var metadata = try #require(try StoreMetadata.read(from: connection))
        var hashes = metadata.versionHashes
        hashes["Tag"] = Data(repeating: 7, count: 32)
        metadata.values[NSStoreModelVersionHashesKey] = hashes
        try metadata.write(to: connection)
        try connection.execute("ALTER TABLE ZTAG ADD COLUMN ZNEW VARCHAR")
        tag.label = "c"
        for _ in 0..<2 {
            let error = cocoaError(134070) { try context.save() }
            #expect(error?.localizedDescription.contains("migrated") == true)
            cocoaError(134070) { _ = try stack.newContext().fetch(NSFetchRequest<Tag>()) }
        }
        #expect(tag.label == "c" && tag.isUpdated)
        #expect(try home.sql("SELECT ZLABEL FROM ZTAG") == "b")
    }

    // * The new version has no labels, and no table of tags.
    @Test("says that it was migrated also where columns or tables are missing", arguments: [true, false])
    func missing(isTable: Bool) throws {
        let home = try StoreHome(.file)
        let stack = try Stack(home.url())
        let context = stack.newContext()
        let tag = Tag(context: context)
        tag.label = "a"
        try context.save()
        let model = LibraryModel.make()
        if isTable {
            model.entities.removeAll { $0.name == "Tag" }
            model.entitiesByName["Book"]?.properties.removeAll { $0.name == "tags" }
        } else {
            model.entitiesByName["Tag"]?.properties.removeAll { $0.name == "label" }
        }
        try Stack(home.url(), model, options: migrating).close()
        context.refresh(tag, mergeChanges: false)
        for _ in 0..<2 {
            let error = cocoaError(134070) { _ = try stack.newContext().fetch(NSFetchRequest<Tag>()) }
            #expect(error?.localizedDescription.contains("migrated to another version of its model") == true)
            cocoaError(134070) { _ = try stack.newContext().existingObject(with: tag.objectID) }
            cocoaError(134070) { _ = try context.execute(NSBatchUpdateRequest.labels) }
        }
    }

    private func uri(_ key: Int, of object: NSManagedObject) -> URL {
        object.objectID.uriRepresentation().deletingLastPathComponent().appendingPathComponent("p\(key)")
    }

    @Test("keys that were reserved before it was emptied are not written into it", arguments: StoreKind.allCases)
    func reservedKeys(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (context, child) = try contextWithReservedKeys(home)
        try Deed.empty.run(home)
        Tag(context: child).label = "late"
        try child.save()
        cocoaError(134070) { try context.save() }
        #expect(context.insertedObjects.count == 1)
        try expectRoomForOthers(home)
    }

    @Test("keys that were reserved before the store was counted back leave room for what others insert", arguments: StoreKind.allCases)
    func countedBack(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let (context, child) = try contextWithReservedKeys(home)
        // * As a backup that is restored in place.
        _ = try home.sql("DELETE FROM ZTAG; UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Tag'")
        for _ in 0..<3 {
            Tag(context: child).label = "late"
            try child.save()
            try context.save()
            try expectRoomForOthers(home)
        }
        #expect(try home.sql("SELECT count(*) FROM ZTAG WHERE ZLABEL = 'late'") == "3")
    }

    @Test("an object that object trump brings back leaves room for what others insert", arguments: StoreKind.allCases)
    func broughtBack(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let stack = try Stack(home.url())
        let context = stack.newContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let tags = (0..<5).map { _ in Tag(context: context) }
        try context.save()
        _ = try home.sql("DELETE FROM ZTAG; UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Tag'")
        tags[4].label = "back"
        try context.save()
        try expectRoomForOthers(home)
    }

    /// A context whose store has keys at hand for a child's new objects.
    private func contextWithReservedKeys(_ home: StoreHome) throws -> (NSManagedObjectContext, child: NSManagedObjectContext) {
        let stack = try Stack(home.url())
        let context = stack.newContext()
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        for _ in 0..<3 {
            for _ in 0..<5 { Tag(context: child).label = "early" }
            try child.save()
            try context.save()
        }
        return (context, child)
    }

    private func expectRoomForOthers(_ home: StoreHome) throws {
        let context = try Stack(home.url()).newContext()
        for _ in 0..<30 {
            Tag(context: context).label = "other"
            try context.save()
        }
    }
}

extension NSBatchUpdateRequest {
    fileprivate static var labels: NSBatchUpdateRequest {
        let request = NSBatchUpdateRequest(entityName: "Tag")
        request.propertiesToUpdate = ["label": "new"]
        return request
    }
}
