import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A save that fails")
struct FailingSaveTests {
    @Test(
        "for want of room says so, keeps every change pending, and succeeds when there is room",
        .enabled(if: Mounts.areAllowed, Mounts.whyNot)
    )
    func fullVolume() throws {
        let folder = try TemporaryFolder()
        try Mounts.small(folder.url, kilobytes: 1024) {
            let filler = folder.file("filler")
            let stack = try Stack(folder.store)
            let context = stack.newContext()
            Tag(context: context).label = "first"
            try context.save()
            try fill(filler)
            let tags = (0..<2000).map { number in
                let tag = Tag(context: context)
                tag.label = String(repeating: "\(number)", count: 50)
                return tag
            }
            cocoaError(640) { try context.save() }
            #expect(tags.allSatisfy { $0.isInserted && $0.objectID.isTemporaryID })
            #expect(try Child.sqlite(folder.store, "PRAGMA integrity_check; SELECT COUNT(*) FROM ZTAG") == "ok\n1")
            try FileManager.default.removeItem(at: filler)
            try context.save()
            #expect(tags.allSatisfy { !$0.hasChanges && !$0.objectID.isTemporaryID })
            #expect(try Child.sqlite(folder.store, "PRAGMA integrity_check; SELECT COUNT(*) FROM ZTAG") == "ok\n2001")
            try stack.close()
        }
    }

    private func fill(_ file: URL) throws {
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        let block = Data(repeating: 1, count: 4096)
        while (try? handle.write(contentsOf: block)) != nil {}
        try handle.close()
    }

    @Test("for want of pages says so, and keeps every change pending")
    func pageLimit() throws {
        let library = try Library(options: [NSSQLitePragmasOption: ["max_page_count": "40"]])
        let tag = Tag(context: library.context)
        tag.label = String(repeating: "x", count: 1_000_000)
        cocoaError(640) { try library.context.save() }
        #expect(tag.isInserted)
        tag.label = "short"
        try library.context.save()
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG") == "short")
    }

    @Test("where a trigger of the file ignores a row says so, and keeps every change", arguments: ["INSERT", "UPDATE", "DELETE"])
    func ignoringTrigger(deed: String) throws {
        let library = try Library()
        let tags = (0..<100).map { _ in Tag(context: library.context) }
        for (number, tag) in tags.enumerated() { tag.label = "\(number)" }
        if deed != "INSERT" { try library.context.save() }
        let row = deed == "INSERT" ? "NEW" : "OLD"
        let ignoring = "CREATE TRIGGER deaf BEFORE \(deed) ON ZTAG WHEN \(row).ZLABEL = '7' BEGIN SELECT RAISE(IGNORE); END"
        _ = try library.sql(ignoring)
        for tag in tags where deed == "UPDATE" { tag.label = "new" }
        if deed == "DELETE" { tags.forEach(library.context.delete) }
        cocoaError(133021) { try library.context.save() }
        #expect(tags.allSatisfy { $0.hasChanges })
        #expect(
            try library.sql("SELECT COUNT(*), COUNT(CASE ZLABEL WHEN 'new' THEN 1 END) FROM ZTAG") == (deed == "INSERT" ? "0|0" : "100|0")
        )
        _ = try library.sql("DROP TRIGGER deaf")
        try library.context.save()
        let left = ["INSERT": "100|0", "UPDATE": "100|100", "DELETE": "0|0"][deed]
        #expect(try library.sql("SELECT COUNT(*), COUNT(CASE ZLABEL WHEN 'new' THEN 1 END) FROM ZTAG") == left)
    }

    @Test("of a batch where a trigger ignores a row says so, and writes none")
    func ignoringTriggerOfBatch() throws {
        let library = try Library()
        let ignoring = "CREATE TRIGGER deaf BEFORE INSERT ON ZTAG WHEN NEW.ZLABEL = '7' BEGIN SELECT RAISE(IGNORE); END"
        _ = try library.sql(ignoring)
        let request = NSBatchInsertRequest(entityName: "Tag", objects: (0..<60).map { ["label": "\($0)"] })
        cocoaError(133021) { _ = try library.context.execute(request) }
        #expect(try library.sql("SELECT COUNT(*) FROM ZTAG") == "0")
    }

    @Test("for another process' lock waits as long as the option says, keeps its changes, and succeeds after the lock")
    func locked() throws {
        let library = try Library(options: [NSPersistentStoreTimeoutOption: 0.2])
        let tag = Tag(context: library.context)
        tag.label = "patient"
        try Child.keepingOpen(library.url, "BEGIN IMMEDIATE") {
            let error = cocoaError(134090) { try library.context.save() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain == NSSQLiteErrorDomain)
            #expect(tag.isInserted && tag.objectID.isTemporaryID)
            let seen = try library.newContext().labels()
            #expect(seen.isEmpty)
        }
        try library.context.save()
        #expect(try library.sql("SELECT ZLABEL FROM ZTAG") == "patient")
    }

    @Test("takes a timeout that is a whole number")
    func wholeTimeout() throws {
        let library = try Library(options: [NSPersistentStoreTimeoutOption: 0])
        Tag(context: library.context).label = "impatient"
        try Child.keepingOpen(library.url, "BEGIN IMMEDIATE") {
            cocoaError(134090) { try library.context.save() }
        }
    }

    @Test("leaves file and objects as they were, whichever statement it is that fails", arguments: StoreKind.allCases)
    func everyStatement(kind: StoreKind) throws {
        let library = try Library(kind)
        let graph = try SampleGraph(library.context)
        let injector = try FaultInjector(library.store)
        graph.change()
        let before = try library.dump()
        let pending = graph.state()
        var number = 0
        while true {
            number += 1
            injector.arm(number)
            do {
                try library.context.save()
                break
            } catch {
                #expect(error is CocoaError, "statement \(number): \(error)")
                #expect(try library.dump() == before, "statement \(number)")
                #expect(graph.state() == pending, "statement \(number)")
            }
            try #require(number < 200)
        }
        injector.disarm()
        #expect(number > 15)
        let final = graph.values()
        #expect(!library.context.hasChanges)

        // => What was saved at last is what a save without failures writes.
        #expect(try SampleGraph(reading: library.separateContext()).values() == final)
        let clean = try Library(kind)
        let other = try SampleGraph(clean.context)
        other.change()
        try clean.context.save()
        #expect(try clean.dump() == library.dump())
    }

    @Test("in one of two stores leaves both as they were; a last commit that fails says which store it was", arguments: StoreKind.allCases)
    func severalStores(kind: StoreKind) throws {
        let stores = try TwoStores(StoreHome(kind))
        let context = stores.stack.newContext()
        let (person, tag) = (Person(context: context), Tag(context: context))
        (person.name, tag.label) = ("old", "old")
        try context.save()
        (person.name, tag.label) = ("new", "new")
        // The store whose transaction begins first and is committed last.
        let outer = stores.people.lock.identity < stores.things.lock.identity ? stores.people : stores.things
        for store in [stores.people, stores.things] {
            let injector = try FaultInjector(store)
            for number in 1...(store === outer ? 3 : 4) {
                injector.arm(number)
                #expect(throws: CocoaError.self) { try context.save() }
                #expect(try stores.values() == ["old", "old"])
                #expect(person.isUpdated && tag.isUpdated)
            }
            injector.disarm()
        }
        let injector = try FaultInjector(outer)
        injector.arm(4) { throw SQLiteError(extendedCode: 10, message: "injected", sql: $0) }
        let error = cocoaError(134040) { try context.save() }
        #expect(error?.affectedStores?.count == 1 && error?.affectedStores?.first === outer)
        #expect(person.isUpdated && tag.isUpdated)
        injector.disarm()
        context.refresh(outer === stores.people ? tag : person, mergeChanges: true)
        try context.save()
        #expect(try stores.values() == ["new", "new"])
    }

    @Test("by a killed process is in the file as a whole or not at all", arguments: [1, 3, 5, 8, 11, 14, 17, 20, 23])
    func killed(statement: Int) async throws {
        let folder = try TemporaryFolder()
        let url = folder.store
        try makeStore(at: url, labels: [])
        let path = url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, statement = statement as Int] in
            let stack = try Stack(URL(fileURLWithPath: path))
            let context = stack.newContext()
            let injector = try FaultInjector(stack.coordinator.persistentStores[0] as! SQLiteStore)
            injector.arm(statement) { _ in kill(getpid(), SIGKILL) }
            for round in 0..<10 {
                for _ in 0..<120 { Tag(context: context).label = "\(round)" }
                try context.save()
            }
        }
        let context = try Stack(url).newContext()
        let labels = try context.labels()
        #expect(try Child.sqlite(url, "PRAGMA integrity_check") == "ok")
        #expect(Set(Dictionary(grouping: labels) { $0 }.values.map(\.count)).isSubset(of: [120]))
        // => Keys go on after the highest that is in use.
        let tag = Tag(context: context)
        try context.save()
        #expect(try Child.sqlite(url, "SELECT MAX(Z_PK) = \(labels.count + 1) FROM ZTAG") == "1", "\(tag)")
    }

    @Test("keeps the places that it gave in ordered relationships, and what comes later goes behind", arguments: StoreKind.allCases)
    func placesAfterFailure(kind: StoreKind) throws {
        let library = try Library(kind)
        let book = Book(context: library.context)
        book.title = "t"
        try library.context.save()
        let other = library.newContext()
        let mine = try #require(try other.all(Book.self, "Book").first)
        func append(_ heading: String) {
            let chapter = Chapter(context: other)
            chapter.heading = heading
            chapter.book = mine
        }
        append("1")
        append("2")
        let injector = try FaultInjector(library.store)
        injector.arm(4)
        #expect(throws: CocoaError.self) { try other.save() }
        injector.disarm()
        append("3")
        try other.save()
        let reader = try library.separateContext()
        #expect(try reader.all(Book.self, "Book").first?.chapters.map(\.heading) == ["1", "2", "3"])
    }
}

/// Objects with every kind of change between them.
private final class SampleGraph {
    let context: NSManagedObjectContext
    private var objects: [NSManagedObject] = []

    /// Makes and saves the objects.
    init(_ context: NSManagedObjectContext) throws {
        self.context = context
        for number in 0..<4 {
            let author = Author(context: context)
            author.name = "author \(number)"
            let book = Book(context: context)
            book.title = "book \(number)"
            book.author = author
            book.chapters = (0..<4).map { part in
                let chapter = Chapter(context: context)
                chapter.heading = "\(number).\(part)"
                return chapter
            }
            let tag = Tag(context: context)
            tag.label = "tag \(number)"
            book.tags = [tag]
            let desk = Desk(context: context)
            desk.room = "\(number)"
            author.desk = desk
        }
        try context.save()
        try find()
    }

    init(reading context: NSManagedObjectContext) throws {
        self.context = context
        try find()
    }

    private func find() throws {
        objects = []
        for (entity, key) in [("Person", "name"), ("Book", "title"), ("Chapter", "heading"), ("Tag", "label"), ("Desk", "room")] {
            objects += try context.all(NSManagedObject.self, entity, orderedBy: key)
        }
    }

    private func book(_ number: Int) -> Book { objects.compactMap { $0 as? Book }.first { $0.title == "book \(number)" }! }

    /// Inserts, updates and deletes; moves between owners; changes orders and links.
    func change() {
        let books = (0..<4).map(book)
        let tags = objects.compactMap { $0 as? Tag }
        for number in 0..<60 {
            let tag = Tag(context: context)
            tag.label = "new \(number)"
            if number < 3 { tag.books = [books[number]] }
            objects.append(tag)
        }
        books[0].price = 12
        books[0].chapters = books[0].chapters.reversed()
        let moved = books[1].chapters[0]
        books[1].chapters.removeFirst()
        books[2].chapters.insert(moved, at: 1)
        books[2].tags = [tags[0], tags[1]]
        books[1].author?.boss = books[0].author
        books[1].author = books[0].author
        let boss = Author(context: context)
        boss.name = "boss"
        boss.reports = [books[2].author!]
        objects.append(boss)
        objects.removeAll { $0 === books[3] || ($0 as? Chapter)?.book === books[3] }
        context.delete(books[3])
        context.processPendingChanges()
    }

    /// What a failed save must not change: which object is in which state, under which identity, with which values.
    func state() -> [String] {
        objects.map { "\($0.objectID.uriRepresentation()) \($0.isInserted)\($0.isUpdated)\($0.isDeleted)" } + values()
            + [context.insertedObjects, context.updatedObjects, context.deletedObjects].map { "\($0.count)" }
    }

    func values() -> [String] {
        objects.map { object in
            switch object {
            case let author as Author:
                "\(author.name ?? "-") \(author.boss?.name ?? "-") \(author.reports.compactMap(\.name).sorted()) \(author.desk?.room ?? "-")"
                    + " \(author.books.compactMap(\.title).sorted())"
            case let book as Book:
                "\(book.title ?? "-") \(book.price ?? 0) \(book.author?.name ?? "-") \(book.chapters.map { $0.heading ?? "-" })"
                    + " \(book.tags.compactMap(\.label).sorted())"
            case let chapter as Chapter: "\(chapter.heading ?? "-") \(chapter.book?.title ?? "-")"
            case let tag as Tag: "\(tag.label ?? "-") \(tag.books.compactMap(\.title).sorted())"
            case let desk as Desk: "\(desk.room ?? "-") \(desk.owner?.name ?? "-")"
            default: "?"
            }
        }
        .sorted()
    }
}

extension Library {
    /// The contents of all tables that hold objects, after checking that the file is sound.
    func dump() throws -> String {
        let tables = ["ZPERSON", "ZBOOK", "ZCHAPTER", "ZTAG", "ZDESK"].map { "SELECT '\($0)', * FROM \($0) ORDER BY Z_PK;" }
        return try sql(tables.joined() + "SELECT 'links', * FROM Z_1TAGS ORDER BY 2, 3; SELECT * FROM Z_PRIMARYKEY ORDER BY 1")
    }
}
