import CoreData
import Foundation
import Testing

@Suite("An ordered to-many relationship")
struct OrderedRelationshipTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func saveBook(_ headings: [String]) throws -> Book {
        let book = Book(context: context)
        book.title = "T"
        book.chapters = headings.map(library.chapter)
        try context.save()
        return book
    }

    /// The headings as the file orders them, and as a context that knows nothing yet does.
    private func stored(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let file = try library.sql(
            "SELECT group_concat(ZHEADING, '') FROM (SELECT ZHEADING FROM ZCHAPTER WHERE ZBOOK IS NOT NULL ORDER BY Z_FOK_BOOK)"
        )
        let other = try library.separateContext()
        let read = try other.all(Book.self, "Book").flatMap(\.chapters).compactMap(\.heading).joined()
        #expect(file == read, sourceLocation: sourceLocation)
        #expect(
            try library.sql("SELECT COUNT(*) - COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER WHERE ZBOOK IS NOT NULL") == "0",
            sourceLocation: sourceLocation
        )
        return read
    }

    private func headings(_ book: Book) -> String { book.chapters.compactMap(\.heading).joined() }

    @Test("keeps its order in the file and in another context")
    func order() throws {
        let book = try saveBook(["c", "a", "d", "b"])
        #expect(headings(book) == "cadb")
        #expect(try stored() == "cadb")
    }

    @Test("is gone through as it is after a rollback and a refresh, in a live set that somebody has held meanwhile")
    func heldSet() throws {
        let book = try saveBook(["a", "b", "c"])
        let set = book.mutableOrderedSetValue(forKey: "chapters")
        func iterated() -> String { set.map { ($0 as? Chapter)?.heading ?? "?" }.joined() }
        set.add(library.chapter("d"))
        set.moveObjects(at: IndexSet(integer: 3), to: 0)
        #expect(iterated() == "dabc")
        context.rollback()
        #expect(iterated() == "abc")
        set.moveObjects(at: IndexSet(integer: 2), to: 0)
        #expect(iterated() == "cab")
        context.refresh(book, mergeChanges: false)
        #expect(iterated() == "abc" && set.count == 3)
    }

    @Test("appends what is added through the inverse, read or not")
    func inverse() throws {
        let book = try saveBook(["a", "b"])
        let other = library.newContext()
        let same = try other.only(Book.self, "Book")
        let new = Chapter(context: other)
        new.heading = "c"
        let statements = library.statementsOf { new.book = same }
        #expect(statements == [])
        #expect(headings(same) == "abc")
        try other.save()
        #expect(try stored() == "abc")
        context.refresh(book, mergeChanges: true)
        let last = library.chapter("d")
        last.book = book
        #expect(headings(book) == "abcd")
        try context.save()
        #expect(try stored() == "abcd")
    }

    @Test("appends through the inverse without ever being read")
    func inverseUnread() throws {
        _ = try saveBook(["a", "b"])
        let other = library.newContext()
        let same = try other.only(Book.self, "Book")
        for heading in ["c", "d"] {
            let new = Chapter(context: other)
            new.heading = heading
            new.book = same
        }
        try other.save()
        #expect(try stored() == "abcd")
        #expect(headings(same) == "abcd")
    }

    @Test(
        "takes insertions in the middle and at the front, reorders, and moves either end",
        arguments: [
            ("abcd", "abXcd"), ("abcd", "Xabcd"), ("abcd", "dcba"), ("abcd", "bcda"), ("abcd", "dabc"), ("abcd", "ad"), ("abcd", "XcYaZ"),
            ("abcd", "abcd"), ("abcd", ""), ("", "ab"),
        ]
    )
    func edits(from: String, to: String) throws {
        let book = try saveBook(from.map { String($0) })
        let known = Dictionary(uniqueKeysWithValues: book.chapters.map { ($0.heading ?? "", $0) })
        for gone in from where !to.contains(gone) { known[String(gone)].map(context.delete) }
        book.chapters = to.map { known[String($0)] ?? library.chapter(String($0)) }
        #expect(headings(book) == to)
        try context.save()
        #expect(headings(book) == to)
        #expect(try stored() == to)
    }

    @Test("put back where it was after having been taken out, a member stays there")
    func takenOutAndBack() throws {
        let book = try saveBook(["a", "b", "c"])
        let list = book.mutableOrderedSetValue(forKey: "chapters")
        let middle = book.chapters[1]
        list.removeObject(at: 1)
        #expect(middle.book == nil && headings(book) == "ac")
        list.insert(middle, at: 1)
        #expect(middle.book === book && headings(book) == "abc")
        try context.save()
        #expect(try stored() == "abc")
    }

    @Test("is edited through a live mutable ordered set")
    func mutableOrderedSet() throws {
        let book = try saveBook(["a", "b", "c", "d"])
        let list = book.mutableOrderedSetValue(forKey: "chapters")
        #expect(list.count == 4 && (list.firstObject as? Chapter)?.heading == "a" && (list.lastObject as? Chapter)?.heading == "d")
        list.exchangeObject(at: 0, withObjectAt: 3)
        #expect(headings(book) == "dbca")
        list.moveObjects(at: [0], to: 3)
        #expect(headings(book) == "bcad")
        list.add(library.chapter("e"))
        list.insert(library.chapter("f"), at: 0)
        #expect(headings(book) == "fbcade")
        list.remove(book.chapters[1])
        list.removeObject(at: 0)
        #expect(headings(book) == "cade")
        list.replaceObject(at: 0, with: library.chapter("g"))
        #expect(headings(book) == "gade")
        #expect(list.index(of: book.chapters[2]) == 2 && list.contains(book.chapters[3]))
        for chapter in try context.all(Chapter.self, "Chapter") where chapter.book == nil { context.delete(chapter) }
        try context.save()
        #expect(try stored() == "gade")
        list.removeAllObjects()
        #expect(book.chapters.isEmpty)
    }

    @Test("survives edits by two contexts one after the other")
    func twoContexts() throws {
        let book = try saveBook(["a", "b", "c"])
        let other = library.newContext()
        let same = try other.only(Book.self, "Book")
        same.chapters = same.chapters.reversed()
        try other.save()
        #expect(try stored() == "cba")
        context.refreshAllObjects()
        #expect(headings(book) == "cba")
        let new = library.chapter("d")
        book.mutableOrderedSetValue(forKey: "chapters").insert(new, at: 1)
        try context.save()
        #expect(try stored() == "cdba")
        other.refreshAllObjects()
        #expect(headings(same) == "cdba")
    }

    @Test("of a thousand members writes few rows when one member moves")
    func fewRows() throws {
        let book = try saveBook((0..<1000).map { String(format: "%03d,", $0) })
        var chapters = book.chapters
        chapters.insert(chapters.remove(at: 0), at: 999)
        chapters.insert(chapters.remove(at: 500), at: 10)
        book.chapters = chapters
        let statements = try library.statements { try context.save() }
        #expect(statements.count(where: { $0.hasPrefix("UPDATE ZCHAPTER") }) == 2)
        #expect(statements.count < 10)
        #expect(try stored() == chapters.compactMap(\.heading).joined())
        #expect(try library.sql("SELECT Z_OPT FROM ZBOOK") == "2")
    }

    @Test("of a new owner knows its positions after the first save: a later one writes those that change", arguments: [1, 2, 3, 12])
    func positionsOfNewOwner(count: Int) throws {
        let book = try saveBook((0..<count).map { String(format: "%03d,", $0) })
        let last = library.chapter("last")
        book.chapters.insert(last, at: 0)
        let moving = try library.statements { try context.save() }
        #expect(moving.count(where: { $0.hasPrefix("UPDATE ZCHAPTER") }) == 0)
        #expect(try stored() == headings(book) && headings(book).hasPrefix("last000,"))
        // * The first goes to the end: one position changes.
        book.chapters.append(book.chapters.remove(at: 0))
        let appending = try library.statements { try context.save() }
        #expect(appending.count(where: { $0.hasPrefix("UPDATE ZCHAPTER") }) == 1)
        #expect(try stored() == headings(book) && headings(book).hasSuffix(",last"))
    }

    @Test("of a new owner stays in order when members leave it, then others come, in one save after the first")
    func leavingNewOwner() throws {
        let book = try saveBook(["a", "b", "c", "d"])
        context.delete(book.chapters[1])
        book.chapters[0].book = nil
        library.chapter("e").book = book
        context.processPendingChanges()
        let first = try #require(context.all(Chapter.self, "Chapter", by: "heading").first)
        first.book = book
        #expect(headings(book) == "cdea")
        try context.save()
        #expect(try stored() == "cdea")
    }

    @Test("gives positions in a save without telling anybody of a change of the members")
    func positionsAreNoChange() throws {
        let book = try saveBook(["a", "b"])
        book.chapters.reverse()
        library.chapter("c").book = book
        context.processPendingChanges()
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: context) { _ in }
        try context.save()
        context.processPendingChanges()
        #expect(changes.received.isEmpty && !context.hasChanges)
        #expect(try stored() == "bac")
    }

    @Test("appends in the order of the additions, of old members and new ones, without ever being read")
    func additionsInOrder() throws {
        _ = try saveBook(["a"])
        let second = Book(context: context)
        second.title = "U"
        second.chapters = ["b", "c"].map(library.chapter)
        try context.save()
        let other = library.newContext()
        let same = try #require(other.all(Book.self, "Book", by: "title").first)
        let moved = try other.all(Chapter.self, "Chapter", by: "heading")
        let new = Chapter(context: other)
        new.heading = "d"
        new.book = moved[1].book
        moved[2].book = same
        new.book = same
        moved[1].book = same
        #expect(same.hasFault(forRelationshipNamed: "chapters"))
        try other.save()
        #expect(same.hasFault(forRelationshipNamed: "chapters"))
        #expect(try stored() == "acdb")
        #expect(headings(same) == "acdb")
    }

    @Test("puts a member that left and came back at the end, whether it is read before the save or not", arguments: [true, false])
    func leftAndBack(isRead: Bool) throws {
        _ = try saveBook(["a", "b", "c"])
        let other = library.newContext()
        let book = try other.only(Book.self, "Book")
        let first = try #require(other.all(Chapter.self, "Chapter", by: "heading").first)
        first.book = nil
        first.book = book
        if isRead { #expect(headings(book) == "bca") }
        try other.save()
        #expect(headings(book) == "bca")
        #expect(try stored() == "bca")
    }

    @Test("is not disturbed by setting a member's owner to what it is")
    func sameOwner() throws {
        let book = try saveBook(["a", "b", "c"])
        book.chapters[0].book = book
        try context.save()
        #expect(try stored() == "abc")
        let other = library.newContext()
        let chapter = try #require(other.all(Chapter.self, "Chapter", by: "heading").first)
        chapter.book = chapter.book
        try other.save()
        #expect(try stored() == "abc")
    }

    @Test("keeps a new order through a save that failed and through a conflict that was resolved")
    func secondAttempt() throws {
        let book = try saveBook(["a", "b", "c"])
        let other = library.newContext()
        try other.only(Book.self, "Book").pages = 5
        try other.save()
        book.chapters = book.chapters.reversed()
        #expect(errorCode { try context.save() } == NSManagedObjectMergeError)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(try stored() == "cba")
        #expect(try library.sql("SELECT ZPAGES FROM ZBOOK") == "5")
    }

    @Test("is sorted through a live mutable ordered set, and enumerated")
    func sorting() throws {
        let book = try saveBook(["c", "a", "b"])
        let list = book.mutableOrderedSetValue(forKey: "chapters")
        list.sort(using: [NSSortDescriptor(key: "heading", ascending: true)])
        #expect(headings(book) == "abc")
        #expect(list.compactMap { ($0 as? Chapter)?.heading } == ["a", "b", "c"])
        #expect((list.array as? [Chapter]) == book.chapters && list.set.count == 3)
        try context.save()
        #expect(try stored() == "abc")
    }

    @Test("stays in order through many insertions at one place")
    func sameGap() throws {
        let book = try saveBook(["<", ">"])
        var expected = ["<", ">"]
        for number in 0..<40 {
            let mark = String(UnicodeScalar(UInt8(65 + number)))
            let list = book.mutableOrderedSetValue(forKey: "chapters")
            list.insert(library.chapter(mark), at: 1)
            expected.insert(mark, at: 1)
            try context.save()
        }
        #expect(headings(book) == expected.joined())
        #expect(try stored() == expected.joined())
    }

    @Test("comes back in its old order after a rollback")
    func rollback() throws {
        let book = try saveBook(["a", "b", "c"])
        book.chapters = book.chapters.reversed()
        context.delete(book.chapters[0])
        context.rollback()
        #expect(headings(book) == "abc")
        try context.save()
        #expect(try stored() == "abc")
    }

    @Test("keeps the order of a list that a member did not leave, since a refresh took its move back")
    func refreshedMember() throws {
        let (first, second) = (try saveBook(["a", "b", "c"]), try saveBook(["x", "y", "z"]))
        let moved = first.chapters[0]
        #expect(headings(second) == "xyz")
        second.chapters.append(moved)
        context.refresh(moved, mergeChanges: false)
        #expect(headings(first) == "abc" && headings(second) == "xyz" && moved.book === first)
        try context.save()
        #expect(headings(first) == "abc" && headings(second) == "xyz")
        let other = try library.separateContext()
        #expect(try other.all(Book.self, "Book").map(headings).sorted() == ["abc", "xyz"])
        withExtendedLifetime(other) {}
    }

    @Test("that is its own inverse is written in the order that it was given", arguments: [1, 2])
    func reflexive(layers: Int) throws {
        let stage = try Stage {
            let person = LibraryModel.entity("Person", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let friends = NSRelationshipDescription()
            (friends.name, friends.maxCount, friends.isOrdered, friends.deleteRule) = ("friends", 0, true, .nullifyDeleteRule)
            (friends.destinationEntity, friends.inverseRelationship) = (person, friends)
            person.properties.append(friends)
            return [person]
        }
        let context = layers == 1 ? stage.context : Layers.child(of: stage.context, "child")
        let people = (0..<5).map { number in
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person["name"] = "\(number)"
            return person
        }
        func names(_ person: NSManagedObject?) -> String {
            (person?.mutableOrderedSetValue(forKey: "friends").array ?? []).map { ($0 as? NSManagedObject)?["name"] as? String ?? "" }
                .joined()
        }
        func stored() throws -> String {
            let reader = try stage.separateContext()
            return try withExtendedLifetime(reader) { names(try reader.all(NSManagedObject.self, "Person", by: "name").first) }
        }
        func save() throws {
            try context.save()
            if layers > 1 { try stage.context.save() }
        }
        let friends = people[0].mutableOrderedSetValue(forKey: "friends")
        for number in [3, 1, 4, 2] { friends.add(people[number]) }
        try save()
        #expect(try stored() == "3142" && names(people[0]) == "3142")
        friends.moveObjects(at: IndexSet(integer: 3), to: 0)
        try save()
        #expect(try stored() == "2314" && names(people[0]) == "2314")
        friends.removeObject(at: 1)
        try save()
        #expect(try stored() == "214")
    }
}
