import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import ExampleStores

@Suite("The CSV store of the guide")
struct CSVTextTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("things.csv")
        NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: CSVStore.storeType)
    }

    private func open() throws -> NSManagedObjectContext {
        let thing = NSEntityDescription("Thing", attribute("name"), attribute("day", .date), attribute("flag", .boolean))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(thing))
        try coordinator.addPersistentStore(ofType: CSVStore.storeType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func thing(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
    }

    @Test("keeps every text", arguments: ["#\u{301}boo", "a\"\u{301}b", "\"", ",\u{301}", "#", "\r\n", "a\u{301}\"\"", ""])
    func texts(_ text: String) throws {
        try Data("name,id\n".utf8).write(to: url)
        let context = try open()
        NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue(text, forKey: "name")
        try context.save()
        let name = try #require(try thing(open()).value(forKey: "name") as? String)
        #expect(Array(name.utf8) == Array(text.utf8))
    }

    @Test("keeps every date", arguments: [-100_000_000_000, -63_200_000_000.5, 0, 736_672_089.25, 1e13])
    func dates(_ seconds: Double) throws {
        let context = try open()
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue(date, forKey: "day")
        try context.save()
        #expect(try thing(open()).value(forKey: "day") as? Date == date)
    }

    @Test("reads the flags that people write, and refuses what is none")
    func flags() throws {
        for (text, flag) in [("TRUE ", true), ("Y", true), ("no", false), ("0", false)] {
            try Data("id,flag\n1,\(text)\n".utf8).write(to: url)
            #expect(try thing(open()).value(forKey: "flag") as? Bool == flag)
        }
        try Data("id,flag\n1,maybe\n".utf8).write(to: url)
        #expect(throws: CocoaError.self) { try open() }
    }

    @Test("never takes the offset of a date for seconds", arguments: ["2024-05-06T07:08:09+0200", "2024-05-06T07:08:09+02"])
    func offsets(_ text: String) throws {
        try Data("id,day\n1,\(text)\n".utf8).write(to: url)
        let due = Date(timeIntervalSince1970: 1_714_972_089)
        // Refused, or read right.
        guard let context = try? open() else { return }
        #expect(try thing(context).value(forKey: "day") as? Date == due)
    }

    @Test("refuses a model with values that no text stands for")
    func transformable() throws {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel(NSEntityDescription("Thing", attribute("any", .transformable)))
        )
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: CSVStore.storeType, configurationName: nil, at: url)
        }
    }

    @Test("refuses a model with a property that would be in a column of its own", arguments: ["id", "entity"])
    func ownColumns(_ name: String) throws {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel(NSEntityDescription("Thing", attribute(name)))
        )
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: CSVStore.storeType, configurationName: nil, at: url)
        }
        #expect(error?.localizedDescription.contains("called \(name)") == true)
    }
}
