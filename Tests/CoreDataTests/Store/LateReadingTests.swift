import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

/// A read that began before a write, and ends after it, has rows that were there before: they are its own.
@Suite("A read that a write overtakes")
struct LateReadingTests {
    enum Write: CaseIterable { case batchUpdate, batchUpdateWithoutIDs, save }

    private func write(_ write: Write, _ library: Library, _ id: NSManagedObjectID) throws {
        let context = library.newContext()
        switch write {
        case .batchUpdate: try context.batchUpdate("Book", ["pages": 9], type: .updatedObjectIDsResultType)
        case .batchUpdateWithoutIDs: try context.batchUpdate("Book", ["pages": 9], type: .statusOnlyResultType)
        case .save:
            try #require(context.existingObject(with: id) as? Book).pages = 9
            try context.save()
        }
    }

    // * A fetch has its snapshot of the file. Somebody changes a row, and is gone. The fetch reads its rows. A new context asks for the object.
    // => It gets what is in the file, not what the fetch has read.
    @Test("shows its rows to nobody else", arguments: Write.allCases)
    func outdated(_ kind: Write) throws {
        let library = try Library()
        let id = try library.savedBook().objectID
        library.context.reset()
        let store = library.store
        store.cache.forgetAll()
        let frame = store.plans.frame(entity: try #require(library.model.entitiesByName["Book"]), includesSubentities: true, result: .rows)
        let connection = try Connection(path: library.url.path, mode: .readWrite)
        defer { connection.close() }
        try connection.execute("BEGIN")
        #expect(try connection.rows("SELECT count(*) FROM ZBOOK") == [[.integer(1)]])
        var rows: [Row] = []
        let reader = RowReader(frame.columns, store: store) { run in rows += run.range.map { Row(run.batch, $0) } }
        try write(kind, library, id)
        try reader.read(connection.prepare(frame.select))
        #expect(rows.map(\.version) == [1])
        let context = library.newContext()
        #expect((context.object(with: id) as? Book)?.pages == 9)
    }
}
