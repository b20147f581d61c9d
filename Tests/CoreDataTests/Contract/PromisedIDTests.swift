import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("The permanent ID that a new object of a document has before it is saved")
struct PromisedIDTests {
    private static let types = [NSXMLStoreType, NSBinaryStoreType]
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("Document")
    }

    private func add(_ type: String, to coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentStore {
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    }

    /// As another process writes it, which knows nothing of what was promised in this one.
    private func writeTag(_ number: Int, _ label: String) throws {
        var format = PropertyListSerialization.PropertyListFormat.xml
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), options: [], format: &format)
        var document = try #require(list as? [String: Any])
        var objects = try #require(document["objects"] as? [String: [[String: Any]]])
        objects["Tag", default: []].append(["id": number, "values": ["label": label]])
        (document["objects"], document["lastNumbers"]) = (objects, ["Tag": number])
        try PropertyListSerialization.data(fromPropertyList: document, format: format, options: 0).write(to: url)
    }

    private func labels(_ context: NSManagedObjectContext) throws -> Set<String?> { Set(try context.all(Tag.self).map(\.label)) }

    // * A tag gets its ID. Another process saves a tag under the same number; the save here is refused, and the store added anew.
    // => Both tags are there, and are saved: the save failed for ever (133021), and the other process's tag was not seen.
    @Test("keeps nobody from what another process has saved under the same number meanwhile", arguments: types)
    func sameNumber(_ type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let store = try add(type, to: coordinator)
        let context = Library.context(on: coordinator)
        Tag(context: context).label = "first"
        try context.save()
        let mine = Tag(context: context)
        mine.label = "mine"
        try context.obtainPermanentIDs(for: [mine])
        let promised = mine.objectID
        #expect(promised.uriRepresentation().lastPathComponent == "p2")
        try writeTag(2, "theirs")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .persistentStoreSave)

        try coordinator.remove(store)
        _ = try add(type, to: coordinator)
        #expect(try labels(context) == ["first", "mine", "theirs"])
        try context.save()
        #expect(mine.objectID == promised && mine.objectID.uriRepresentation().lastPathComponent == "p3")
        #expect(try labels(Library.context(on: coordinator)) == ["first", "mine", "theirs"])
        let others = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        _ = try add(type, to: others)
        #expect(try labels(Library.context(on: others)) == ["first", "mine", "theirs"])
    }

    // * The store is removed and added anew, and nobody else has saved.
    @Test("stays what it is when the store is added anew", arguments: types)
    func addedAnew(_ type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let store = try add(type, to: coordinator)
        let context = Library.context(on: coordinator)
        let tag = Tag(context: context)
        try context.obtainPermanentIDs(for: [tag])
        let uri = tag.objectID.uriRepresentation()
        try coordinator.remove(store)
        _ = try add(type, to: coordinator)
        try context.save()
        #expect(tag.objectID.uriRepresentation() == uri)
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == tag.objectID)
        #expect(try Library.context(on: coordinator).all(Tag.self).map(\.objectID) == [tag.objectID])
    }

    // * A save of it fails; the store is added anew, and then it is saved.
    @Test("is free for others also after a save that failed", arguments: types)
    func failedBefore(_ type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        var store = try add(type, to: coordinator)
        let context = Library.context(on: coordinator)
        let tag = Tag(context: context)
        tag.label = "mine"
        try context.obtainPermanentIDs(for: [tag])
        for number in 1...3 {
            try writeTag(number, "\(number)")
            #expect(throws: CocoaError.self) { try context.save() }
            try coordinator.remove(store)
            store = try add(type, to: coordinator)
        }
        try context.save()
        #expect(try labels(Library.context(on: coordinator)) == ["mine", "1", "2", "3"])
    }
}
