import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A document that nobody has open")
struct UnopenedDocumentTests {
    private static let types = [(NSBinaryStoreType, NSXMLStoreType), (NSXMLStoreType, NSBinaryStoreType)]
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("Document")
    }

    private func make(_ type: String) throws -> [String: Any] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        defer { _ = try? coordinator.remove(store) }
        return store.metadata
    }

    @Test("gets other metadata, keeps what says which model it is of, and takes an identifier", arguments: types)
    func metadata(_ type: String, _ other: String) throws {
        let before = try make(type)
        try NSPersistentStoreCoordinator.setMetadata(
            ["note": "x", NSStoreUUIDKey: "ABC-1", NSStoreTypeKey: other],
            forPersistentStoreOfType: type,
            at: url
        )
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        #expect(after["note"] as? String == "x")
        #expect(after[NSStoreUUIDKey] as? String == "ABC-1")
        #expect(after[NSStoreTypeKey] as? String == type)
        #expect(Set(after.keys.filter { $0.hasPrefix("NSStoreModel") }) == Set(before.keys.filter { $0.hasPrefix("NSStoreModel") }))
        #expect(try make(type)["note"] as? String == "x")
    }

    @Test("is neither read, nor written, nor removed as one of the other type", arguments: types)
    func otherType(_ type: String, _ other: String) throws {
        _ = try make(type)
        let data = try Data(contentsOf: url)
        func refused(_ body: () throws -> Void) {
            #expect { try body() } throws: { ($0 as? CocoaError)?.code == .persistentStoreTypeMismatch }
        }
        refused { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: other, at: url) }
        refused { try NSPersistentStoreCoordinator.setMetadata([:], forPersistentStoreOfType: other, at: url) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        refused { try coordinator.destroyPersistentStore(at: url, ofType: other) }
        #expect(try Data(contentsOf: url) == data)
    }

    // * A program that does not know what a file is asks for it as a document, while it has the database open.
    // => The answer is no, and SQLite's locks on the file are there still: who closes a file drops all that the process has on it.
    @Test("is not looked for in a database that is open", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func openDatabase(_ type: String) throws {
        let library = try Library(.file)
        _ = try library.savedBook()
        let before = try locks(on: library.url)
        try #require(!before.isEmpty)
        let error = #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: library.url)
        }
        #expect(error?.code == .fileReadCorruptFile)
        #expect(try locks(on: library.url) == before)
    }

    /// What any of several readings shows: a lock of somebody else's that goes while the list is read hides another one.
    private func locks(on file: URL) throws -> Set<Substring> {
        let number = try #require(FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int)
        let lines = try (0..<20).flatMap { _ in try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n") }
        // NB: the numbers at the beginnings of lines are counted anew each time.
        return Set(lines.filter { $0.contains(":\(number) ") }.map { $0.drop { $0 != ":" } })
    }
}
