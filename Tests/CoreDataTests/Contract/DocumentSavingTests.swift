import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A document that is saved")
struct DocumentSavingTests {
    private static let types = [NSXMLStoreType, NSBinaryStoreType]
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("Document")
    }

    private func open(_ type: String, _ model: NSManagedObjectModel = LibraryModel.make()) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func cocoaError(_ code: Int, _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(sourceLocation: sourceLocation) { try body() } throws: { ($0 as? CocoaError)?.code.rawValue == code }
    }

    @Test("begins in a file with nothing in it", arguments: types)
    func emptyFile(_ type: String) throws {
        try Data().write(to: url)
        let context = try open(type)
        Tag(context: context).label = "t"
        try context.save()
        #expect(try open(type).all(Tag.self).map(\.label) == ["t"])
    }

    // * Two threads make a document at one place, each on a coordinator of its own.
    // => Both have it, and it is one: the second was refused (134030).
    @Test("is made once, where several make it at once", arguments: types)
    func madeByTwo(_ type: String) async throws {
        for round in 0..<20 {
            let place = folder.file("\(round)")
            let identifiers = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
                        let store = try? coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place)
                        return store?.identifier
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(identifiers.count == 2 && identifiers[0] != nil && Set(identifiers).count == 1)
        }
    }

    @Test("keeps any text in its metadata", arguments: types, ["\u{feff}mark", "a\rb", "a\u{1}b", "\u{0}", "\u{fffe}", "<&>"])
    func metadataTexts(_ type: String, _ text: String) throws {
        let context = try open(type)
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
        let note: [String: Any] = ["list": [text, ["key \(text)": text]]]
        store.metadata["note"] = note
        store.metadata[text] = "value"
        try context.save()
        let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        #expect(NSDictionary(dictionary: found["note"] as? [String: Any] ?? [:]).isEqual(NSDictionary(dictionary: note)))
        #expect(found[text] as? String == "value")
        let again = try open(type).persistentStoreCoordinator?.persistentStores.first
        #expect(again?.metadata[text] as? String == "value" && again?.identifier == store.identifier)
    }

    @Test("keeps dates in its metadata to the fraction of a second, however far they are", arguments: types)
    func metadataDates(_ type: String) throws {
        let context = try open(type)
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
        let dates = [0.25, 1e17, -1e17].map(Date.init(timeIntervalSinceReferenceDate:))
        store.metadata["dates"] = ["last": dates]
        try context.save()
        let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        #expect(found["dates"] as? [String: [Date]] == ["last": dates])
    }

    @Test("is destroyed where a link leads to it, and made there anew", arguments: types)
    func link(_ type: String) throws {
        let link = folder.file("Link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        _ = try open(type)
        #expect(FileManager.default.fileExists(atPath: url.path))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.destroyPersistentStore(at: link, ofType: type)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: link)
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    @Test("is never put in the place of a device or a pipe", arguments: types)
    func pipe(_ type: String) throws {
        try #require(mkfifo(url.path, 0o600) == 0)
        cocoaError(259) { _ = try open(type) }
        cocoaError(259) { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url) }
        cocoaError(259) {
            try NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make()).destroyPersistentStore(at: url, ofType: type)
        }
        var status = stat()
        #expect(stat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test("names the file that cannot be written, not one beside it", arguments: types)
    func noFolder(_ type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let url = url.appendingPathComponent("none/Document")
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        }
        #expect(error?.localizedDescription.contains(url.path) == true && error?.userInfo[NSFilePathErrorKey] as? String == url.path)
    }

    @Test("opens again when the end of a relationship without inverse is deleted", arguments: types)
    func oneWay(_ type: String) throws {
        func model() -> NSManagedObjectModel {
            let (a, b) = (NSEntityDescription("A", attribute("name")), NSEntityDescription("B", attribute("name")))
            a.relate("one", to: b)
            a.relate("many", to: b, many: true)
            a.relate("list", to: b, many: true, ordered: true)
            return NSManagedObjectModel(a, b)
        }
        let context = try open(type, model())
        let a = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
        let ends = (0..<2).map { index in
            let end = NSEntityDescription.insertNewObject(forEntityName: "B", into: context)
            end.setValue("\(index)", forKey: "name")
            return end
        }
        a.setValue(ends[0], forKey: "one")
        a.setValue(NSSet(array: ends), forKey: "many")
        a.setValue(NSOrderedSet(array: ends), forKey: "list")
        try context.save()
        context.delete(ends[0])
        try context.save()

        let other = try open(type, model())
        let read = try #require(try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).first)
        #expect(read.value(forKey: "one") == nil)
        #expect((read.value(forKey: "many") as? Set<NSManagedObject>)?.map { $0.value(forKey: "name") as? String } == ["1"])
        #expect((read.value(forKey: "list") as? NSOrderedSet)?.count == 1)
    }

    @Test("is not replaced by who has read it before somebody else wrote it, not even while both write")
    func race() throws {
        try Data("old".utf8).write(to: url)
        let stamp = FileStamp(url)
        struct Changed: Error {}
        var isFirst = true
        #expect(throws: Changed.self) {
            try AtomicFile.write(Data("mine".utf8), to: url) { current in
                if current != stamp { throw Changed() }
                if isFirst { try AtomicFile.write(Data("theirs".utf8), to: url) { _ in } }
                isFirst = false
            }
        }
        #expect(try String(contentsOf: url, encoding: .utf8) == "theirs")
        #expect(try folder.contents() == ["Document"])
    }

    @Test(
        "is written anew when somebody has removed it, and keeps permissions that the mask of the process would not give",
        arguments: types
    )
    func removed(_ type: String) throws {
        let context = try open(type)
        Tag(context: context).label = "a"
        try context.save()
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: url.path)
        Tag(context: context).label = "b"
        try context.save()
        #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o666)
        try FileManager.default.removeItem(at: url)
        Tag(context: context).label = "c"
        try context.save()
        #expect(try open(type).all(Tag.self, where: nil, sortedBy: "label").map(\.label) == ["a", "b", "c"])
    }

    @Test("gives its objects IDs that no other coordinator gives to others")
    func identities() throws {
        let (mine, theirs) = (try open(NSXMLStoreType), try open(NSXMLStoreType))
        let tag = Tag(context: mine)
        tag.label = "a"
        try mine.save()
        let other = Tag(context: theirs)
        try theirs.obtainPermanentIDs(for: [other])
        #expect(other.objectID != tag.objectID)
        let id = mine.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: tag.objectID.uriRepresentation())
        #expect(id == tag.objectID)
    }

    @Test(
        "is refused where it is damaged, instead of being opened without a part",
        arguments: ["values", "relationships", "id", "number", "large", "end", "ends", "text"]
    )
    func damaged(_ part: String) throws {
        let context = try open(NSXMLStoreType)
        let book = Book(context: context)
        (book.title, book.pages) = ("t", 7)
        book.tags = [Tag(context: context)]
        book.author = Author(context: context)
        try context.save()
        var text = try String(contentsOf: url, encoding: .utf8)
        let (old, new) =
            switch part {
            case "values": ("<key>values</key>", "<key>values</key><string>none</string><key>other</key>")
            case "relationships": ("<key>tags</key>", "<key>tags</key><string>none</string><key>author</key>")
            case "large": ("<integer>7</integer>", "<integer>5000000000</integer>")
            case "end": ("<key>author</key>\n<array>\n<integer>1</integer>", "<key>author</key>\n<array>\n<real>1.5</real>")
            case "ends": ("<key>author</key>\n<array>", "<key>author</key>\n<array>\n<integer>1</integer>")
            case "text": ("<string>t</string>", "<data>//4=</data>")
            case "id": ("<key>id</key>\n<integer>1</integer>", "<key>id</key><real>1.5</real>")
            default: ("<integer>7</integer>", "<real>1e300</real>")
            }
        text = text.replacingOccurrences(of: "\t", with: "")
        #expect(text.contains(old))
        try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: url)
        cocoaError(259) { _ = try open(NSXMLStoreType) }
    }

    @Test("as XML is the same file again, byte by byte, when it has the same objects again")
    func bytes() throws {
        let context = try open(NSXMLStoreType)
        let books = (0..<50).map { index in
            let book = Book(context: context)
            (book.title, book.pages) = ("\(index)", Int32(index))
            return book
        }
        try context.save()
        let before = try Data(contentsOf: url)
        for pages in [Int32(1000), 7] {
            books[7].pages = pages
            try context.save()
            #expect(try (Data(contentsOf: url) == before) == (pages == 7))
        }
    }
}
