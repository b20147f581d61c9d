import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A model that is read from a file with several versions, in no bundle of the program")
struct SiblingVersionsTests {
    private let folder: TemporaryFolder

    /// The second version is the current one.
    init() throws {
        folder = try TemporaryFolder()
        let modifier = UUID().uuidString
        for (name, attributes) in [("One", ["text"]), ("Two", ["text", "color"])] {
            let lines = attributes.map { #"<attribute name="\#($0)" optional="YES" attributeType="String"/>"# }
            let entity = #"<entity name="Note" versionHashModifier="\#(modifier)">\#(lines.joined())</entity>"#
            try folder.write("<model>\(entity)</model>", to: "Notes.xcdatamodeld/\(name).xcdatamodel/contents")
        }
        let current = "<plist><dict><key>_XCCurrentVersionName</key><string>Two.xcdatamodel</string></dict></plist>"
        try folder.write(current, to: "Notes.xcdatamodeld/.xccurrentversion")
    }

    private var bundle: URL { folder.file("Notes.xcdatamodeld") }
    private var first: URL { bundle.appendingPathComponent("One.xcdatamodel") }

    private func open(_ model: NSManagedObjectModel, _ type: String, _ body: (NSManagedObjectContext) throws -> Void = { _ in }) throws {
        let stack = Stack(model)
        try stack.coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("Store"), options: migrating)
        try body(stack.newContext())
        try stack.close()
    }

    // A document carries no copy of its model; a database does, which does not count on the way back.
    @Test("migrates stores of all of them, forward and back", arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType])
    func migrates(type: String) throws {
        try open(NSManagedObjectModel(reading: first), type) { context in
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("kept", forKey: "text")
            try context.save()
        }
        let copied = try #require(try NSManagedObjectModel(reading: bundle).copy() as? NSManagedObjectModel)
        try open(copied, type)
        try open(NSManagedObjectModel(reading: first), type) { context in
            let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
            #expect(notes.map { $0.value(forKey: "text") as? String } == ["kept"])
            #expect(notes.first?.entity.attributesByName["color"] == nil)
        }
    }

    @Test("is said to have been looked at where none of them is the store's")
    func places() throws {
        try open(NSManagedObjectModel(reading: first), NSXMLStoreType)
        let other = try NSManagedObjectModel(reading: bundle)
        try FileManager.default.removeItem(at: first)
        let error = cocoaError(134130) { try open(other, NSXMLStoreType) }
        #expect(error?.localizedDescription.contains(bundle.path) == true)
    }
}
