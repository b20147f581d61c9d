import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import ExampleStores

@Suite("The stores of the guide")
struct ExampleStoreTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        NSPersistentStoreCoordinator.registerStoreClass(JSONLinesStore.self, forStoreType: JSONLinesStore.storeType)
        NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: CSVStore.storeType)
    }

    private static func model() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        let tag = LibraryModel.entity(
            "Song",
            NSManagedObject.self,
            [LibraryModel.attribute("title", .stringAttributeType), LibraryModel.attribute("year", .integer32AttributeType)]
        )
        model.entities = [tag]
        return model
    }

    private func open(_ type: String, _ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func songs(_ context: NSManagedObjectContext, _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }) throws
        -> [NSManagedObject]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
        change(request)
        return try context.fetch(request)
    }

    @Test("read a million JSON lines as they are needed, and no others")
    func millionLines() throws {
        let url = folder.file("songs.jsonl")
        let block = String(repeating: "{\"title\":\"a song\",\"year\":1999,\"more\":true}\n", count: 1000)
        var text = ""
        for _ in 0..<1000 { text += block }
        try Data((text + "{\"title\":\"the last\",\"year\":2024}").utf8).write(to: url)
        let context = try open(JSONLinesStore.storeType, url)
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? JSONLinesStore)

        let found = try songs(context) { ($0.fetchLimit, $0.fetchOffset) = (5, 999_998) }
        #expect(found.count == 3 && store.parsedCount == 0)
        #expect(found.map { $0.value(forKey: "title") as? String } == ["a song", "a song", "the last"])
        #expect(store.parsedCount == 3)
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Song")) == 1_000_001)
        #expect(found[2].objectID.uriRepresentation().lastPathComponent == "p1000000")
        #expect(store.parsedCount == 3)
        found[0].setValue("changed", forKey: "title")
        #expect(throws: CocoaError.self) { try context.save() }
    }

    @Test("keep of many JSON lines no more than what an order asks for, and parse none beyond a limit")
    func limits() throws {
        let url = folder.file("many.jsonl")
        let lines = (0..<20_000).map { "{\"title\":\"t\($0 % 7)\",\"year\":\(($0 * 7919) % 20_000)}" }
        try Data(lines.joined(separator: "\n").utf8).write(to: url)
        let context = try open(JSONLinesStore.storeType, url)
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? JSONLinesStore)
        let first = try songs(context) {
            $0.predicate = NSPredicate(format: "year < 10")
            $0.fetchLimit = 1
        }
        #expect(first.count == 1 && store.parsedCount == 1)
        let found = try songs(context) {
            $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false), NSSortDescriptor(key: "year", ascending: true)]
            ($0.fetchOffset, $0.fetchLimit) = (2, 3)
        }
        let expected = (0..<20_000).filter { $0 % 7 == 6 }.map { ($0 * 7919) % 20_000 }.sorted()[2..<5]
        #expect(found.map { $0.value(forKey: "year") as? Int } == Array(expected))
    }

    @Test("find JSON lines by predicate and order")
    func lines() throws {
        let url = folder.file("few.jsonl")
        let lines = ["{\"title\":\"b\",\"year\":2}", "", "{\"title\":\"a\",\"year\":1}", "{\"year\":3}"]
        try Data(lines.joined(separator: "\n").utf8).write(to: url)
        let context = try open(JSONLinesStore.storeType, url)
        let found = try songs(context) {
            $0.predicate = NSPredicate(format: "year < 3")
            $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        }
        #expect(found.map { $0.value(forKey: "title") as? String } == ["a", "b"])
        let first = try open(JSONLinesStore.storeType, url)
        #expect(try songs(first).map { $0.value(forKey: "year") as? Int } == [2, 1, 3])
        #expect(try songs(first).map(\.objectID) == songs(context).map(\.objectID))
        withExtendedLifetime(first) {}
    }

    @Test("keep the comments, the columns and the rows of whoever edits a CSV file")
    func csv() throws {
        let url = folder.file("songs.csv")
        try Data(
            "# My songs\nyear,note,title,id\n1999,mine,\"One, two\",a\n\n# the best\n2000,,Three,b\n2001,gone,Four,c\n# the end\n".utf8
        ).write(to: url)
        let context = try open(CSVStore.storeType, url)
        let found = try songs(context) { $0.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)] }
        #expect(found.map { $0.value(forKey: "title") as? String } == ["One, two", "Three", "Four"])
        found[0].setValue("One \"and\" two", forKey: "title")
        found[1].setValue(2020, forKey: "year")
        context.delete(found[2])
        try context.save()

        let text = try String(contentsOf: url, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("#metadata") }
        let expected = [
            "# My songs", "year,note,title,id", "1999,mine,\"One \"\"and\"\" two\",a", "", "# the best", "2020,,Three,b", "# the end", "",
        ]
        #expect(lines.map(String.init) == expected)
        let other = try open(CSVStore.storeType, url)
        #expect(try songs(other).count == 2)
    }

    @Test("keep the ends of lines of an editor elsewhere, and know their own metadata again")
    func carriageReturns() throws {
        let url = folder.file("songs.csv")
        try Data("# mine\r\ntitle,year\r\n\r\nOne,1999\r\n\"row1\",\r\n".utf8).write(to: url)
        let context = try open(CSVStore.storeType, url)
        let found = try songs(context) { $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)] }
        #expect(found.map { $0.value(forKey: "title") as? String } == ["One", "row1"])
        found[0].setValue(2000, forKey: "year")
        try context.save()
        let uuid = try #require(context.persistentStoreCoordinator?.persistentStores.first?.identifier)
        #expect(try open(CSVStore.storeType, url).persistentStoreCoordinator?.persistentStores.first?.identifier == uuid)
        let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\r\n").filter { !$0.hasPrefix("#metadata") }
        #expect(lines == ["# mine", "title,year,id", "", "One,2000,row1", "row1,,row2", ""])
    }

    @Test("give a row with an empty id one of its own")
    func emptyIDs() throws {
        let url = folder.file("songs.csv")
        try Data("title,id\nOne,\"\"\nTwo,\nThree,row1\n".utf8).write(to: url)
        let context = try open(CSVStore.storeType, url)
        let found = try songs(context) { $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)] }
        #expect(found.map { $0.objectID.uriRepresentation().lastPathComponent } == ["prow2", "prow1", "prow3"])
    }

    @Test("keep each end of a line and each carriage return in a field", arguments: ["\n", "\r\n"])
    func returnsInFields(_ end: String) throws {
        let url = folder.file("songs.csv")
        let lines = ["title,year,id", "\"One\rmore\",1999,a", "Two\rmore,2000,b", ""]
        try Data(lines.joined(separator: end).utf8).write(to: url)
        let context = try open(CSVStore.storeType, url)
        let found = try songs(context) { $0.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)] }
        #expect(found.map { $0.value(forKey: "title") as? String } == ["One\rmore", "Two\rmore"])
        found[0].setValue(1998, forKey: "year")
        try context.save()
        let written = try String(contentsOf: url, encoding: .utf8).components(separatedBy: end).filter { !$0.hasPrefix("#metadata") }
        #expect(written == ["title,year,id", "\"One\rmore\",1998,a", "\"Two\rmore\",2000,b", ""])
    }

    @Test("read what an editor begins with a byte order mark, and keep that")
    func byteOrderMark() throws {
        let url = folder.file("songs.csv")
        let mark = Data([0xef, 0xbb, 0xbf])
        for head in ["title,id\n", "# mine\ntitle,id\n"] {
            try (mark + Data((head + "One,a\n").utf8)).write(to: url)
            let context = try open(CSVStore.storeType, url)
            let song = try #require(try songs(context).first)
            #expect(song.value(forKey: "title") as? String == "One")
            song.setValue("Two", forKey: "title")
            try context.save()
            let data = try Data(contentsOf: url)
            #expect(data.starts(with: mark) && !data.dropFirst(3).starts(with: mark))
            #expect(try songs(open(CSVStore.storeType, url)).first?.value(forKey: "title") as? String == "Two")
        }
    }

    @Test("write where a link leads to")
    func links() throws {
        let (url, link) = (folder.file("real.csv"), folder.file("link.csv"))
        try Data("title,id\nOne,a\n".utf8).write(to: url)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        let context = try open(CSVStore.storeType, link)
        NSEntityDescription.insertNewObject(forEntityName: "Song", into: context).setValue("new", forKey: "title")
        try context.save()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == url.path)
        let other = try open(CSVStore.storeType, url)
        #expect(try songs(other).count == 2)
    }

    @Test("make the file that a link leads to, where there is none yet")
    func emptyLinks() throws {
        let (url, link) = (folder.file("real.csv"), folder.file("link.csv"))
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "real.csv")
        let context = try open(CSVStore.storeType, link)
        NSEntityDescription.insertNewObject(forEntityName: "Song", into: context).setValue("new", forKey: "title")
        try context.save()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "real.csv")
        #expect(try songs(open(CSVStore.storeType, url)).count == 1)
    }

    @Test("do not write over what somebody has edited meanwhile")
    func edited() throws {
        let url = folder.file("songs.csv")
        try Data("title,id\nOne,a\n".utf8).write(to: url)
        let context = try open(CSVStore.storeType, url)
        try songs(context).first?.setValue("Two", forKey: "title")
        try Data("title,id\nOne,a\nby hand,b\n".utf8).write(to: url)
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .persistentStoreSave && context.hasChanges)
        #expect(try String(contentsOf: url, encoding: .utf8) == "title,id\nOne,a\nby hand,b\n")
    }

    @Test(
        "name what is wrong with a file",
        arguments: [
            ("title,id\n\"One\"x,a\n", "quote"), ("title,id\n\"One,a\n", "never closed"), ("title,id\nOne,a b\n", "a b"),
            ("title,id\nOne,a\nTwo,a\n", "twice"), ("title,id,title\nOne,a,Two\n", "title"), ("title,id\nOne,a,b\n", "too many"),
            ("<?xml version=\"1.0\"?>\n", "No column"),
        ]
    )
    func wrong(_ text: String, _ reason: String) throws {
        let url = folder.file("songs.csv")
        try Data(text.utf8).write(to: url)
        let error = #expect(throws: CocoaError.self) { try songs(open(CSVStore.storeType, url)) }
        let told = "\(error?.userInfo ?? [:]) \(error?.localizedDescription ?? "")"
        #expect(told.contains(reason))
    }
}

@Suite("A store of another module")
struct PackageStoreTests {
    @Test("needs the contract, and nothing of the coordinator")
    func planets() throws {
        StoreTypes.register(PlanetStore.Kind(), PlanetStore.storeType)
        defer { StoreTypes.unregister(PlanetStore.storeType) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(ofType: PlanetStore.storeType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(try context.all(Tag.self, where: "label BEGINSWITH 'M'", sortedBy: "label").map(\.label) == ["Mars", "Mercury"])
        let earth = try #require(coordinator.managedObjectID(for: "x-coredata://PLANETS/Tag/p3"))
        #expect((try context.existingObject(with: earth) as? Tag)?.label == "Earth")
        #expect(try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 8)
        Tag(context: context).label = "Pluto"
        #expect(throws: CocoaError.self) { try context.save() }
    }
}

@Suite("Stores in documents")
struct DocumentStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ type: String, _ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("write the format that the guide describes")
    func format() throws {
        let url = folder.file("library.xml")
        let context = try open(NSXMLStoreType, url)
        let book = Book(context: context)
        (book.title, book.pages, book.price) = ("T", 7, 0.1)
        try context.save()
        let list = try #require(
            try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: Any]
        )
        #expect(list["CoreDataDocument"] as? Int == 1)
        let books = try #require((list["objects"] as? [String: [[String: Any]]])?["Book"])
        let values = try #require(books.first?["values"] as? [String: Any])
        #expect(books.count == 1 && books[0]["id"] as? Int == 1)
        #expect(values["title"] as? String == "T" && values["pages"] as? Int == 7 && values["price"] as? String == "0.1")
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSXMLStoreType, at: url)[NSStoreTypeKey] as? String == "XML"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["library.xml"])
    }

    @Test("do not overwrite what others have written meanwhile, and keep the changes", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func others(_ type: String) throws {
        let url = folder.file("library")
        let (first, second) = (try open(type, url), try open(type, url))
        for context in [first, second] { Tag(context: context).label = "x" }
        try first.save()
        let error = #expect(throws: CocoaError.self) { try second.save() }
        #expect(error?.code == .persistentStoreSave && second.hasChanges)
        let third = try open(type, url)
        #expect(try third.all(Tag.self).count == 1)
    }

    @Test("refuse files of something else, other models and other types, and leave them as they are")
    func refused() throws {
        let url = folder.file("library")
        let context = try open(NSBinaryStoreType, url)
        let before = try Data(contentsOf: url)
        let type = #expect(throws: CocoaError.self) { try open(NSXMLStoreType, url) }
        #expect(type?.code == .persistentStoreTypeMismatch)
        let model = LibraryModel.make()
        model.entitiesByName["Tag"]?.versionHashModifier = "2"
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        let version = #expect(throws: CocoaError.self) {
            try other.addPersistentStore(ofType: NSBinaryStoreType, configurationName: nil, at: url)
        }
        #expect(version?.code == .persistentStoreIncompatibleVersionHash)
        #expect(try Data(contentsOf: url) == before)
        let noStore = folder.file("text")
        try Data("no store".utf8).write(to: noStore)
        let corrupt = #expect(throws: CocoaError.self) { try open(NSBinaryStoreType, noStore) }
        #expect(corrupt?.code == .fileReadCorruptFile)
        withExtendedLifetime(context) {}
    }

    @Test("take away what killed writers have left beside them, and leave what somebody is writing")
    func abandoned() throws {
        let url = folder.file("library")
        let names = (0..<2).map { _ in ".coredata-partial-\(UUID().uuidString)" }
        for name in names + [".coredata-partial-mine"] { try Data("half".utf8).write(to: folder.file(name)) }
        let writer = Foundation.open(folder.file(names[1]).path, O_RDONLY)
        #expect(flock(writer, LOCK_EX) == 0)
        let context = try open(NSBinaryStoreType, url)
        Tag(context: context).label = "x"
        try context.save()
        close(writer)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
                == [".coredata-partial-mine", "library", names[1]].sorted()
        )
    }

    @Test("leave the old file where it cannot be replaced")
    func unwritable() throws {
        let inner = folder.url.appendingPathComponent("inner", isDirectory: true)
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let url = inner.appendingPathComponent("library")
        let context = try open(NSBinaryStoreType, url)
        let before = try Data(contentsOf: url)
        Tag(context: context).label = "x"
        // The place is a folder that has gone.
        try FileManager.default.moveItem(at: inner, to: folder.url.appendingPathComponent("moved"))
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(context.hasChanges)
        try FileManager.default.moveItem(at: folder.url.appendingPathComponent("moved"), to: inner)
        #expect(try Data(contentsOf: url) == before)
        try context.save()
        #expect(try open(NSBinaryStoreType, url).count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 1)
    }

    @Test("are added by a description, asynchronously too, and destroyed")
    func descriptions() throws {
        let description = NSPersistentStoreDescription(url: folder.file("library"))
        description.type = NSXMLStoreType
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        #expect(failure == nil && coordinator.persistentStores.map(\.type) == [NSXMLStoreType])
        let url = try #require(description.url)
        try coordinator.destroyPersistentStore(at: url, ofType: NSXMLStoreType)
        #expect(coordinator.persistentStores.isEmpty && !FileManager.default.fileExists(atPath: url.path))
    }
}
