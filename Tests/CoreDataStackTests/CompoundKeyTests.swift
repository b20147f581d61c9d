import CoreDataStack
import Foundation
import TestSupport
import Testing

@testable import CoreData

private let text = NSManagedObject.Attribute<String?>("text")
private let number = NSManagedObject.Attribute<Int64>("number")

@Suite("Finding or creating by a key of several attributes")
struct CompoundKeyTests {
    @Test("is one statement for a thousand keys: the stored, the unsaved, and new ones for the rest", arguments: StackKind.allCases)
    func thousand(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            // Each text and each number is there in other combinations, too.
            for index in 0..<400 { for step in 0..<2 { batch.insertNote("\(index)", Int64(index + step)) } }
            try batch.save()
            let unsaved = (400..<600).map { batch.insertNote("\($0)", Int64($0)) }
            let keys = ((0..<1000).map { CompoundKey2("\($0)" as String?, Int64($0)) }) + [CompoundKey2("7", 7)]
            var found: [CompoundKey2<String?, Int64>: Note] = [:]
            let reads = try FindingTests.reads(batch) {
                found = try batch.findOrCreate(Note.self, by: text, number, among: keys)
                for (key, note) in found where (note.text, note.number) != (key.first, key.second) { Issue.record("\(key): \(note)") }
            }
            #expect(reads.count == 1, "\(reads)")
            #expect(found.count == 1000)
            #expect(unsaved.allSatisfy { found[CompoundKey2($0.text, $0.number)] === $0 })
            #expect(found.values.count { $0.isInserted } == 600)
            try batch.save()
            let count = try batch.count(for: NSFetchRequest<Note>())
            #expect(count == 1400)
        }
    }

    @Test("is one statement for forty thousand keys", arguments: StackKind.allCases)
    func fortyThousand(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            for index in 0..<500 { batch.insertNote("\(index)", Int64(index % 7)) }
            try batch.save()
            let keys = (0..<40_000).map { CompoundKey2("\($0)" as String?, Int64($0 % 7)) }
            var found: [CompoundKey2<String?, Int64>: Note] = [:]
            let reads = try FindingTests.reads(batch) { found = try batch.find(Note.self, by: text, number, among: keys) }
            #expect(reads.count == 1 && found.count == 500)
        }
    }

    @Test("sees what contexts above have not saved, and what is changed or deleted here", arguments: StackKind.allCases)
    func pending(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (root, main) = (bench.root, bench.main)
        try await root.perform {
            _ = (root.insertNote("root", 1), root.insertNote("moved", 1), root.insertNote("deleted", 1))
            try root.save()
            _ = root.insertNote("unsaved", 1)
        }
        await main.perform { _ = main.insertNote("main", 1) }
        let worker = bench.stack.newChildContext()
        try await worker.perform {
            let names = ["root", "moved", "deleted", "unsaved", "main", "absent"]
            let keys = names.map { CompoundKey2($0 as String?, Int64(1)) }
            let found = try worker.find(Note.self, by: text, number, among: keys)
            #expect(Set(found.keys.map(\.first)) == ["root", "moved", "deleted", "unsaved", "main"])
            found[CompoundKey2("moved", 1)]?.number = 2
            found[CompoundKey2("deleted", 1)].map(worker.delete)
            let again = try worker.find(Note.self, by: text, number, among: keys + [CompoundKey2("moved", 2)])
            #expect(
                Set(again.keys) == [CompoundKey2("root", 1), CompoundKey2("unsaved", 1), CompoundKey2("main", 1), CompoundKey2("moved", 2)]
            )
            #expect(again.values.allSatisfy { $0.managedObjectContext === worker })
        }
    }

    @Test("is linear in the objects with unsaved changes")
    func manyUnsaved() async throws {
        let bench = try await Bench(.memory)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            for index in 0..<2000 { batch.insertNote("same", Int64(index)) }
            let before = batch.tracker.index.evaluationCount
            let keys = (0..<1000).map { CompoundKey2("same" as String?, Int64($0)) }
            let found = try batch.find(Note.self, by: text, number, among: keys)
            // Found by the number, of which there are more.
            #expect(found.count == 1000 && batch.tracker.index.evaluationCount - before == 1000)
        }
    }

    @Test("takes a key with a nil for no object's, and makes one")
    func missing() async throws {
        let bench = try await Bench(.memory)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            let key = CompoundKey2(nil as String?, Int64(1))
            #expect(key.description == "(nil, 1)")
            let made = try batch.findOrCreate(Note.self, by: text, number, among: [key, key])
            #expect(made.count == 1 && made[key]?.number == 1 && made[key]?.text == nil)
            #expect(try batch.find(Note.self, by: text, number, among: [key]).isEmpty)
            #expect(try batch.find(Note.self, by: text, number, among: [CompoundKey2<String?, Int64>]()).isEmpty)
        }
    }
}

@Suite("Finding by a compound key of values of every type", .serialized)
struct CompoundKeyTypesTests {
    final class Reading: NSManagedObject {}

    private let sensor = NSManagedObject.Attribute<UUID?>("sensor")
    private let moment = NSManagedObject.Attribute<Date?>("moment")
    private let price = NSManagedObject.Attribute<Decimal?>("price")
    private let label = NSManagedObject.Attribute<String?>("label")
    private let level = NSManagedObject.Attribute<Double?>("level")
    private let isOn = NSManagedObject.Attribute<Bool>("isOn")
    private let place = NSManagedObject.Attribute<URL?>("place")

    private let folder = try? TemporaryFolder()

    private func context(_ kind: StackKind) throws -> NSManagedObjectContext {
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName) = ("Reading", NSStringFromClass(Reading.self))
        let types: [(String, NSAttributeType)] = [
            ("sensor", .UUIDAttributeType), ("moment", .dateAttributeType), ("price", .decimalAttributeType),
            ("label", .stringAttributeType), ("level", .doubleAttributeType), ("isOn", .booleanAttributeType),
            ("place", .URIAttributeType),
        ]
        entity.properties = types.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let (type, url) = kind == .file ? (NSSQLiteStoreType, try #require(folder).store) : (NSInMemoryStoreType, nil)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("finds what was made with it, saved or not, and neither more nor less", arguments: StackKind.allCases)
    func all(_ kind: StackKind) throws {
        let context = try context(kind)
        let (first, second) = (UUID(), UUID())
        let dates = [0, 0.1, -1e9, 1.0 / 3].map { Date(timeIntervalSinceReferenceDate: $0) }
        let keys = dates.flatMap { date in
            [first, second].map { CompoundKey3($0 as UUID?, date as Date?, Decimal(string: "3.14159265358979323846")) }
        }
        let made = try context.findOrCreate(Reading.self, by: sensor, moment, price, among: keys)
        #expect(made.count == 8)
        #expect(try context.findOrCreate(Reading.self, by: sensor, moment, price, among: keys) == made)
        try context.save()
        #expect(try context.findOrCreate(Reading.self, by: sensor, moment, price, among: keys + keys) == made)
        #expect(try context.find(Reading.self, by: sensor, moment, price, among: keys.prefix(3)).count == 3)
        let others = keys.map { CompoundKey3($0.first, $0.second, 3 as Decimal?) }
        #expect(try context.find(Reading.self, by: sensor, moment, price, among: others).isEmpty)
        let switched = try context.findOrCreate(Reading.self, by: isOn, level, among: [CompoundKey2(false, 0.1), CompoundKey2(true, 0.1)])
        try context.save()
        let on = CompoundKey2(true, 0.1 as Double?)
        #expect(try context.find(Reading.self, by: isOn, level, among: [on]) == switched.filter { $0.key == on })
    }

    @Test("takes texts of any kind, numbers at their limits and URLs", arguments: StackKind.allCases)
    func odd(_ kind: StackKind) throws {
        let context = try context(kind)
        let texts = ["", "'", "\"", "\\", "a\u{0}b", "é", "👩‍👩‍👧", "[1]", "null", "line\nline"]
        let levels = [0, -0.5, Double.greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e15 + 0.3]
        let url = try #require(URL(string: "http://a.org/b?c"))
        let keys = texts.flatMap { text in levels.map { CompoundKey3(text as String?, $0 as Double?, url as URL?) } }
        let made = try context.findOrCreate(Reading.self, by: label, level, place, among: keys)
        try context.save()
        context.reset()
        let found = try context.find(Reading.self, by: label, level, place, among: keys)
        #expect(made.count == 50 && found.count == 50)
        let nowhere = [CompoundKey3("x" as String?, Double.nan as Double?, url as URL?)]
        #expect(try context.find(Reading.self, by: label, level, place, among: nowhere).isEmpty)
    }

    @Test("refuses two keys that Swift takes for one and a store tells apart", arguments: StackKind.allCases)
    func ambiguous(_ kind: StackKind) throws {
        let context = try context(kind)
        let keys = ["e\u{301}", "\u{e9}"].map { CompoundKey2($0 as String?, 1 as Double?) }
        let error = #expect(throws: CocoaError.self) { try context.find(Reading.self, by: label, level, among: keys) }
        #expect(error?.code == .coreData)
        for part in ["Reading.label, Reading.level", "\\u{00E9}", "e\\u{0301}"] {
            #expect(error?.localizedDescription.contains(part) == true, "\(error?.localizedDescription ?? "")")
        }
    }

    @Test("is a predicate like any other: { label, level } IN %@", arguments: StackKind.allCases)
    func predicate(_ kind: StackKind) throws {
        let context = try context(kind)
        for (text, number) in [("a", 1.0), ("a", 2), ("b", 1), (nil, 1)] {
            let reading = Reading(context: context)
            (reading[label], reading[level]) = (text, number)
        }
        func labels(_ format: String, _ lists: [Any]) throws -> String {
            let request = NSFetchRequest<Reading>()
            request.predicate = NSPredicate(format: format, lists)
            return try context.fetch(request).map { "\($0[label] ?? "-")\($0[level] ?? 0)" }.sorted().joined(separator: " ")
        }
        let lists: [Any] = [["a", 1], ["b", 1], ["b", 7], ["a"], "a", ["a", "1"], ["a", [2]]]
        let (inside, outside) = ("a1.0 b1.0", "-1.0 a2.0")
        for _ in 0..<2 {
            #expect(try labels("{label, level} IN %@", lists) == inside)
            #expect(try labels("NOT {label, level} IN %@", lists) == outside)
            #expect(try labels("{label, level} IN %@ AND level == 1", [["a", 2], ["a", 1]]) == "a1.0")
            #expect(try labels("{label, level} IN %@", []) == "")
            #expect(try labels("{label, level} IN %@", [[NSNull(), 1], ["b", 1]]) == "-1.0 b1.0")
            #expect(try labels("{label} IN %@", [["a"]]) == "a1.0 a2.0")
            // The second time from the store.
            try context.save()
            context.reset()
        }
    }

    @Test("names what is no property, in a predicate", arguments: StackKind.allCases)
    func unknown(_ kind: StackKind) throws {
        let context = try context(kind)
        _ = Reading(context: context)
        try context.save()
        let request = NSFetchRequest<Reading>()
        request.predicate = NSPredicate(format: "{label, nonsense} IN %@", [["a", 1]])
        let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
        #expect(error?.code == .coreData)
        #expect(error?.localizedDescription.contains("nonsense") == true, "\(error?.localizedDescription ?? "")")
    }
}
