import CBaseline
import CoreData
import Foundation
import WordNetData
import WordNetStore

/// All of WordNet, imported by us, and then row by row by a C loop that has the finished rows before it.
final class WordNetImport {
    static let data = URL(fileURLWithPath: "/usr/share/wordnet", isDirectory: true)
    static var isPossible: Bool { FileManager.default.fileExists(atPath: data.appendingPathComponent("data.noun").path) }

    private static let tables = ["ZSYNSET", "ZWORD", "ZSENSE", "ZPOINTER", "ZFRAME"]
    /// What has to be equal: everything, but that places in an order are numbers with random gaps, so that their order is compared.
    private static let columns = [
        "ZSENSE": """
        Z_PK, Z_ENT, Z_OPT, ZISTAGGED, ZLEXICALID, ZNUMBER, ZSYNSET, ZWORD, ZMARKER, ZTEXT,
        ROW_NUMBER() OVER (PARTITION BY ZSYNSET ORDER BY Z_FOK_SYNSET), ROW_NUMBER() OVER (PARTITION BY ZWORD ORDER BY Z_FOK_WORD)
        """
    ]

    private let lexicon: Lexicon
    /// A file that we have written: what the C loop writes, and what every file has to hold.
    private let model: URL
    private let tape: OpaquePointer
    /// How many rows of each table each of our saves has inserted.
    private let counts: [Int64]

    init(in directory: URL) throws {
        let (lexicon, model) = (try Lexicon(contentsOf: Self.data), directory.appendingPathComponent("wordnet.sqlite"))
        counts = try Self.countingSaves { try Self.importRows(of: lexicon, to: model) }
        (self.lexicon, self.model) = (lexicon, model)
        var tape: OpaquePointer?
        let names = Self.tables.map { strdup($0) }
        defer { names.forEach { free($0) } }
        let code = names.map { UnsafePointer($0) }.withUnsafeBufferPointer { names in
            names.withMemoryRebound(to: UnsafePointer<CChar>.self) {
                // Five names are no empty buffer.
                baseline_tape_read(model.path, $0.baseAddress!, Int32($0.count), &tape)
            }
        }
        guard let tape, code == 0 else { throw SQLiteFailure(code: code, operation: "read the rows") }
        self.tape = tape
    }

    deinit { baseline_tape_free(tape) }

    func importOurs(to url: URL) throws -> Double {
        let seconds = try cpuSeconds { try Self.importRows(of: lexicon, to: url) }.seconds
        try verify(url)
        return seconds
    }

    /// From making the file to closing it.
    private static func importRows(of lexicon: Lexicon, to url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Model.make())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try lexicon.insertRows(into: context) }
        try coordinator.remove(store)
    }

    func importRaw(to url: URL) throws -> Double {
        try SQLiteFailure.check(baseline_copy_schema(model.path, url.path), "copy the schema")
        var connection: OpaquePointer?
        try SQLiteFailure.check(baseline_open(url.path, &connection), "open")
        guard let connection else { throw SQLiteFailure(code: 1, operation: "open") }
        let saves = counts.count / Self.tables.count
        let (seconds, code) = cpuSeconds { baseline_tape_play(connection, tape, counts, saves) }
        try SQLiteFailure.check(code, "insert")
        try SQLiteFailure.check(baseline_close(connection), "close")
        try verify(url)
        return seconds
    }

    /// Every row of every table is the model's, and no other is there.
    private func verify(_ url: URL) throws {
        for table in Self.tables {
            var differences: Int64 = -1
            let columns = Self.columns[table] ?? "*"
            try SQLiteFailure.check(baseline_count_differences(url.path, model.path, table, columns, &differences), "compare")
            if differences != 0 { throw WrongResult(description: "import-wordnet: \(differences) rows of \(table) differ") }
        }
    }

    /// What each save inserts while `body` runs, by table.
    private static func countingSaves(_ body: () throws -> Void) rethrows -> [Int64] {
        let counts = Counts()
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: nil, queue: nil) { note in
            let inserted = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
            let byTable = Dictionary(grouping: inserted) { "Z\($0.entity.name?.uppercased() ?? "")" }.mapValues(\.count)
            counts.values += tables.map { Int64(byTable[$0] ?? 0) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try body()
        return counts.values
    }

    // The import runs on this thread, and so does its observer.
    private final class Counts: @unchecked Sendable {
        var values: [Int64] = []
    }
}

extension Bench {
    func importWordNet(_ side: any Side) throws -> Double {
        let wordNet = try wordNet()
        return try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("import.sqlite")
            return side is RawSide ? try wordNet.importRaw(to: url) : try wordNet.importOurs(to: url)
        }
    }
}
