import CoreDataStack
import Foundation
import Testing

@testable import CoreData

private let text = NSManagedObject.Attribute<String?>("text")
private let number = NSManagedObject.Attribute<Int64>("number")
private let optionalNumber = NSManagedObject.Attribute<Int64?>("number")
private let name = NSManagedObject.Attribute<String?>("name")

@Suite("Finding or creating by key")
struct FindingTests {
    /// The statements on a context's store that read rows, while `body` runs.
    static func reads(_ context: NSManagedObjectContext, _ body: () throws -> Void) throws -> [String] {
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
        return try store.counter.recording(body).filter { $0.hasPrefix("SELECT") && ($0.contains("ZNOTE") || $0.contains("ZFOLDER")) }
    }

    @Test("is one statement for a thousand keys: the stored, the unsaved, and new ones for the rest", arguments: StackKind.allCases)
    func thousand(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            for index in 0..<400 { batch.insertNote("\(index)", 1) }
            try batch.save()
            let unsaved = (400..<600).map { batch.insertNote("\($0)", 2) }
            let keys = (0..<1000).map(String.init) + ["7", "999"]
            var found: [String: Note] = [:]
            let reads = try Self.reads(batch) {
                found = try batch.findOrCreate(Note.self, by: text, among: keys)
                for (key, note) in found { if note.text != key { Issue.record("\(key): \(note.text ?? "nil")") } }
            }
            #expect(reads.count == 1, "\(reads)")
            #expect(found.count == 1000)
            #expect(unsaved.allSatisfy { found[$0.text ?? ""] === $0 })
            #expect(found.values.count { $0.isInserted } == 600)
            #expect((0..<400).allSatisfy { found["\($0)"]?.number == 1 })
            try batch.save()
            let found1 = try batch.count(for: NSFetchRequest<Note>())
            #expect(found1 == 1000)
        }
    }

    @Test("sees what contexts above have not saved, at any depth", arguments: StackKind.allCases)
    func depth(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let (root, main) = (bench.root, bench.main)
        await root.perform { _ = root.insertNote("root", 1) }
        await main.perform { _ = main.insertNote("main", 2) }
        let worker = bench.stack.newChildContext()
        try await worker.perform {
            let own = worker.insertNote("own", 3)
            let found = try worker.findOrCreate(Note.self, by: text, among: ["root", "main", "own", "new"])
            #expect(found.mapValues(\.number) == ["root": 1, "main": 2, "own": 3, "new": 0])
            #expect(found["own"] === own)
            #expect(worker.insertedObjects.count == 2)
            #expect(found.values.allSatisfy { $0.managedObjectContext === worker })
        }
    }

    @Test("does not find what is deleted here, and makes it anew", arguments: StackKind.allCases)
    func deleted(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            let old = batch.insertNote("x", 1)
            try batch.save()
            batch.delete(old)
            let found = try batch.findOrCreate(Note.self, by: text, among: ["x"])
            #expect(found["x"] !== old && found["x"]?.isInserted == true)
        }
    }

    @Test("takes numbers, attributes that may be nil, and texts of any kind", arguments: StackKind.allCases)
    func keys(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            let odd = ["", "'", "\"", "\\", "a\u{0}b", "é", "👩‍👩‍👧", "%", "line\nline", String(repeating: "x", count: 100_000)]
            for (index, key) in odd.enumerated() { batch.insertNote(key, Int64(index) - 3) }
            try batch.save()
            batch.reset()
            let byText = try batch.find(Note.self, by: text, among: odd + ["absent"])
            #expect(byText.count == odd.count)
            let byNumber = try batch.find(Note.self, by: number, among: [-3, 0, 99])
            #expect(Set(byNumber.keys) == [-3, 0])
            let made = try batch.findOrCreate(Note.self, by: optionalNumber, among: [Int64.min, .max, -3])
            #expect(made.count == 3 && made[-3]?.text == "" && made[.max]?.isInserted == true && made[.min]?.number == .min)
            let reads = try Self.reads(batch) { _ = try batch.find(Note.self, by: text, among: []) }
            #expect(reads.isEmpty)
        }
    }
}

@Suite("Finding or creating by keys that stores keep in another form", .serialized)
struct FindingOddKeysTests {
    final class Parcel: NSManagedObject {}

    private let price = NSManagedObject.Attribute<Decimal?>("price")
    private let place = NSManagedObject.Attribute<URL?>("place")
    private let label = NSManagedObject.Attribute<String?>("label")

    private func context() throws -> NSManagedObjectContext {
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName) = ("Parcel", NSStringFromClass(Parcel.self))
        let types: [(String, NSAttributeType)] = [
            ("price", .decimalAttributeType), ("place", .URIAttributeType), ("label", .stringAttributeType),
        ]
        entity.properties = types.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The second import finds what the first has made; the count of objects that there are then.
    private func importTwice<Key: ManagedValue & Hashable>(_ keys: [Key], by attribute: NSManagedObject.Attribute<Key?>) throws -> Int {
        let context = try context()
        let first = try context.findOrCreate(Parcel.self, by: attribute, among: keys)
        #expect(first.count == Set(keys).count)
        try context.save()
        context.reset()
        let second = try context.findOrCreate(Parcel.self, by: attribute, among: keys)
        #expect(second.count == Set(keys).count && second.values.allSatisfy { !$0.isInserted })
        return try context.count(for: NSFetchRequest<Parcel>())
    }

    @Test("takes a decimal of more digits than a column has for the one that is stored")
    func decimals() throws {
        let keys = ["12345678901234567890.123", "3.14159265358979323846", "0.1", "7"].compactMap { Decimal(string: $0) }
        #expect(try importTwice(keys, by: price) == 4)
    }

    @Test("takes a relative URL for the absolute one")
    func urls() throws {
        let absolute = try #require(URL(string: "http://a.org/b"))
        let relative = try #require(URL(string: "b", relativeTo: URL(string: "http://a.org/")))
        #expect(try importTwice([relative, absolute], by: place) == 1)
    }

    // Swift takes the composed and the decomposed text for equal; a store has the bytes of one of them.
    @Test(
        "finds a text by its bytes, and refuses two that Swift takes for one",
        arguments: [["e\u{301}", "\u{e9}"], ["\u{e9}", "e\u{301}"]]
    )
    func texts(keys: [String]) throws {
        let context = try context()
        let parcels = keys.map { key in
            let parcel = Parcel(context: context)
            parcel[label] = key
            return parcel
        }
        try context.save()
        for (key, parcel) in zip(keys, parcels) {
            #expect(try context.find(Parcel.self, by: label, among: [key, "x", key])[key] === parcel)
            #expect(try context.findOrCreate(Parcel.self, by: label, among: [key])[key] === parcel)
        }
        let finds = [
            { try context.find(Parcel.self, by: label, among: keys) },
            { try context.findOrCreate(Parcel.self, by: label, among: ["x"] + keys) },
        ]
        for find in finds {
            let error = #expect(throws: CocoaError.self) { _ = try find() }
            #expect(error?.code == .coreData)
            for part in ["Parcel.label", "\"\\u{00E9}\"", "\"e\\u{0301}\""] {
                #expect(error?.localizedDescription.contains(part) == true, "\(error?.localizedDescription ?? "")")
            }
        }
        #expect(context.insertedObjects.isEmpty)
    }

    @Test("makes an object for a value that no store can find again")
    func notANumber() throws {
        let found = try context().findOrCreate(Parcel.self, by: price, among: [Decimal.nan])
        #expect(found.count == 1)
    }
}

@Suite("Importing in chunks")
struct ImportingTests {
    private func rows(_ range: Range<Int>) -> [(text: String, folder: String)] { range.map { ("\($0)", "folder \($0 % 10)") } }

    private static func add(_ chunk: [(text: String, folder: String)], to context: NSManagedObjectContext) throws {
        let notes = try context.findOrCreate(Note.self, by: text, among: chunk.map(\.text))
        let folders = try context.findOrCreate(Folder.self, by: name, among: chunk.map(\.folder))
        for row in chunk { notes[row.text]?.folder = folders[row.folder] }
    }

    @Test("saves each chunk, and finds owners by key with one statement a chunk", arguments: StackKind.allCases)
    func chunks(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        let progress = Progress(totalUnitCount: 3500)
        // Twice: the second finds everything.
        for round in 0..<2 {
            try await batch.perform {
                var sizes: [Int] = []
                var count = 0
                let reads = try FindingTests.reads(batch) {
                    count = try batch.importElements(rows(0..<3500), progress: round == 0 ? progress : nil) { chunk in
                        sizes.append(chunk.count)
                        try Self.add(chunk, to: batch)
                    }
                }
                #expect(count == 3500 && sizes == [1000, 1000, 1000, 500])
                // => Two for what is found; nothing for each row.
                if round == 0 { #expect(reads.count <= 4 * 4, "\(reads.count): \(Set(reads))") }
                #expect(batch.registeredObjects.isEmpty && !batch.hasChanges)
                let found2 = try batch.count(for: NSFetchRequest<Note>())
                #expect(found2 == 3500)
                let folders = try batch.fetch(NSFetchRequest<Folder>())
                #expect(folders.count == 10 && folders.allSatisfy { $0.notes.count == 350 })
                batch.reset()
            }
        }
        #expect(progress.completedUnitCount == 3500 && progress.isFinished)
    }

    @Test("which are cancelled have whole chunks in the store, and nothing in the context", arguments: StackKind.allCases)
    func cancelled(_ kind: StackKind) async throws {
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            let progress = Progress(totalUnitCount: 1000)
            let error = #expect(throws: CocoaError.self) {
                try batch.importElements(rows(0..<1000), inChunksOf: 100, progress: progress) { chunk in
                    try Self.add(chunk, to: batch)
                    if chunk[0].text == "300" { progress.cancel() }
                }
            }
            #expect(error?.code == .userCancelled)
            #expect(progress.completedUnitCount == 300)
            #expect(!batch.hasChanges && batch.registeredObjects.isEmpty)
            let found3 = try batch.count(for: NSFetchRequest<Note>())
            #expect(found3 == 300)
            // => It can be gone on with.
            try batch.importElements(rows(300..<1000), inChunksOf: 100) { try Self.add($0, to: batch) }
            let found4 = try batch.count(for: NSFetchRequest<Note>())
            #expect(found4 == 1000)
        }
    }

    @Test("that fail, in the program or in a save, keep the chunks before", arguments: StackKind.allCases)
    func failing(_ kind: StackKind) async throws {
        struct Unreadable: Error {}
        let bench = try await Bench(kind)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            #expect(throws: Unreadable.self) {
                try batch.importElements(rows(0..<100), inChunksOf: 40) { chunk in
                    try Self.add(chunk, to: batch)
                    if chunk[0].text == "40" { throw Unreadable() }
                }
            }
            #expect(!batch.hasChanges)
            let found5 = try batch.count(for: NSFetchRequest<Note>())
            #expect(found5 == 40)
            let error = #expect(throws: CocoaError.self) {
                try batch.importElements(40..<100, inChunksOf: 40) { chunk in
                    for index in chunk {
                        let note = Note(context: batch)
                        if index != 90 { note.text = "\(index)" }
                    }
                }
            }
            #expect(error?.code == .validationMissingMandatoryProperty)
            #expect(!batch.hasChanges)
            let found6 = try batch.count(for: NSFetchRequest<Note>())
            #expect(found6 == 80)
        }
    }

    @Test("of nothing run no statement, and of a sequence that is endless end when they are cancelled")
    func ends() async throws {
        let bench = try await Bench(.memory)
        let batch = try await bench.stack.newBatchOperationContext()
        try await batch.perform {
            let reads = try FindingTests.reads(batch) {
                let count = try batch.importElements([Int]()) { _ in Issue.record("called") }
                #expect(count == 0)
            }
            #expect(reads.isEmpty)
        }
        let task = Task {
            try await batch.importElements(0..., inChunksOf: 10) { chunk in
                for index in chunk { batch.insertNote("\(index)") }
                if chunk[0] == 50 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        task.cancel()
        let error = await #expect(throws: CocoaError.self) { try await task.value }
        #expect(error?.code == .userCancelled)
        try await batch.perform {
            #expect(!batch.hasChanges)
            let found7 = try batch.count(for: NSFetchRequest<Note>()) % 10
            #expect(found7 == 0)
        }
    }

    @Test("through a child leave whole chunks in its parent")
    func child() async throws {
        let bench = try await Bench(.file)
        let worker = bench.stack.newChildContext()
        let count = try await worker.importElements(0..<250, inChunksOf: 100) { chunk in
            let notes = try worker.findOrCreate(Note.self, by: text, among: chunk.map { "\($0 % 120)" })
            for index in chunk { notes["\(index % 120)"]?.number += 1 }
        }
        #expect(count == 250)
        try await worker.saveToStore()
        let stored = try bench.stored()
        #expect(stored.count == 120)
        #expect(stored["0"] == 3 && stored["119"] == 2)
    }
}
