import CoreData
import Foundation
import TestSupport
import Testing

/// Edits a context and the dictionaries alike, by chance.
private struct Walk {
    let library: Library
    /// Sees the file only.
    let reader: NSManagedObjectContext
    var context: NSManagedObjectContext { library.context }
    var random: SplitMix
    var world = World()
    var saved = World()
    var ids: [String: NSManagedObjectID] = [:]
    /// What the walk holds on to; the context alone holds the rest.
    var held: [String: NSManagedObject] = [:]
    var last = 0
    var trail: [String] = []

    init(seed: UInt64) throws {
        library = try Library()
        reader = try library.separateContext()
        random = SplitMix(state: seed)
    }

    mutating func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }
    mutating func pick<Value: Comparable>(_ values: some Sequence<Value>) -> Value? { values.sorted().randomElement(using: &random) }

    func object<Object: NSManagedObject>(_ name: String, _ type: Object.Type) throws -> Object {
        let object = try held[name] ?? context.object(with: #require(ids[name]))
        return try #require(object as? Object, "\(name)")
    }
    func author(_ id: Int) throws -> Author { try object("a\(id)", Author.self) }
    func book(_ id: Int) throws -> Book { try object("b\(id)", Book.self) }
    func tag(_ id: Int) throws -> Tag { try object("t\(id)", Tag.self) }
    func chapter(_ id: Int) throws -> Chapter { try object("c\(id)", Chapter.self) }

    mutating func note(_ object: NSManagedObject, _ name: String) {
        ids[name] = object.objectID
        held[name] = object
    }

    mutating func step() throws {
        switch Int.random(in: 0..<26, using: &random) {
        case 0...4: try insert()
        case 5...6: try setNumbers()
        case 7...8: try setAuthor()
        case 9...10: try editBooks()
        case 11...13: try editTags()
        case 14...16: try editChapters()
        case 17: try setBoss()
        case 18...19: try delete()
        case 20...21: try refresh()
        case 22: try obtainIDs()
        case 23: if chance(2) { try rollBack() } else { try fetch() }
        default: try save()
        }
    }

    mutating func insert() throws {
        last += 1
        trail.append("insert \(last)")
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let author = Author(context: context)
            author.name = "a\(last)"
            world.authors[last] = World.AuthorFacts()
            note(author, "a\(last)")
        case 1:
            let tag = Tag(context: context)
            tag.label = "t\(last)"
            world.tags.insert(last)
            note(tag, "t\(last)")
        case 2 where !world.books.isEmpty:
            guard let owner = pick(world.books.keys) else { return }
            let chapter = Chapter(context: context)
            chapter.heading = "c\(last)"
            chapter.book = try book(owner)
            world.books[owner]?.chapters.append(last)
            note(chapter, "c\(last)")
        default:
            let book = Book(context: context)
            book.title = "b\(last)"
            world.books[last] = World.BookFacts()
            note(book, "b\(last)")
        }
    }

    mutating func setNumbers() throws {
        let number = Int.random(in: 0..<3, using: &random)
        if let id = pick(world.books.keys), chance(2) {
            try book(id).pages = Int32(number)
            world.books[id]?.pages = number
        } else if let id = pick(world.authors.keys) {
            try author(id).age = Int16(number)
            world.authors[id]?.age = number
        }
    }

    mutating func setAuthor() throws {
        guard let id = pick(world.books.keys) else { return }
        let owner = chance(4) ? nil : pick(world.authors.keys)
        trail.append("b\(id).author = \(owner ?? 0)")
        try book(id).author = owner.map(author)
        world.books[id]?.author = owner
    }

    mutating func editBooks() throws {
        guard let id = pick(world.authors.keys), let first = pick(world.books.keys) else { return }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            trail.append("a\(id) + b\(first)")
            try author(id).addToBooks(book(first))
            world.books[first]?.author = id
        case 1:
            trail.append("a\(id) - b\(first)")
            try author(id).removeFromBooks(book(first))
            if world.books[first]?.author == id { world.books[first]?.author = nil }
        default:
            let chosen = world.books.keys.sorted().filter { _ in chance(3) }
            trail.append("a\(id).books = \(chosen)")
            try author(id).books = Set(chosen.map(book))
            for (book, value) in world.books where value.author == id { world.books[book]?.author = nil }
            for book in chosen { world.books[book]?.author = id }
        }
    }

    mutating func editTags() throws {
        guard let id = pick(world.books.keys), let mark = pick(world.tags) else { return }
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            trail.append("b\(id) + t\(mark)")
            try book(id).mutableSetValue(forKey: "tags").add(tag(mark))
            world.books[id]?.tags.insert(mark)
        case 1:
            trail.append("t\(mark) + b\(id)")
            try tag(mark).mutableSetValue(forKey: "books").add(book(id))
            world.books[id]?.tags.insert(mark)
        case 2:
            trail.append("b\(id) - t\(mark)")
            try book(id).mutableSetValue(forKey: "tags").remove(tag(mark))
            world.books[id]?.tags.remove(mark)
        case 3:
            trail.append("t\(mark) - b\(id)")
            try tag(mark).mutableSetValue(forKey: "books").remove(book(id))
            world.books[id]?.tags.remove(mark)
        default:
            let chosen = world.books.keys.sorted().filter { _ in chance(2) }
            trail.append("t\(mark).books = \(chosen)")
            try tag(mark).books = Set(chosen.map(book))
            for book in world.books.keys { world.books[book]?.tags.remove(mark) }
            for book in chosen { world.books[book]?.tags.insert(mark) }
        }
    }

    mutating func editChapters() throws {
        guard let id = pick(world.books.keys), let part = pick(world.chapters) else { return }
        if chance(2) {
            let order = (world.books[id]?.chapters ?? []).shuffled(using: &random)
            trail.append("b\(id).chapters = \(order)")
            try book(id).chapters = order.map(chapter)
            world.books[id]?.chapters = order
        } else {
            trail.append("c\(part).book = b\(id)")
            try chapter(part).book = book(id)
            world.move(part, to: id)
        }
    }

    mutating func setBoss() throws {
        guard let id = pick(world.authors.keys) else { return }
        let boss = chance(4) ? nil : pick(world.authors.keys)
        trail.append("a\(id).boss = \(boss ?? 0)")
        try author(id).boss = boss.map(author)
        world.authors[id]?.boss = boss
    }

    mutating func delete() throws {
        if let id = pick(world.authors.keys), chance(3) {
            trail.append("delete a\(id)")
            context.delete(try author(id))
            world.deleteAuthor(id)
        } else if let id = pick(world.tags), chance(2) {
            trail.append("delete t\(id)")
            context.delete(try tag(id))
            world.deleteTag(id)
        } else if let id = pick(world.chapters), chance(2) {
            trail.append("delete c\(id)")
            context.delete(try chapter(id))
            if let owner = world.book(of: id) { world.books[owner]?.chapters.removeAll { $0 == id } }
        } else if let id = pick(world.books.keys) {
            trail.append("delete b\(id)")
            context.delete(try book(id))
            world.deleteBook(id)
        }
        context.processPendingChanges()
    }

    mutating func refresh() throws {
        if chance(3) {
            trail.append("refresh all")
            context.refreshAllObjects()
        } else if let id = pick(world.books.keys) {
            let book = try book(id)
            trail.append("refresh b\(id)")
            context.refresh(book, mergeChanges: book.hasChanges)
        }
    }

    mutating func obtainIDs() throws {
        trail.append("obtain IDs")
        let chosen = context.insertedObjects.filter { _ in chance(2) }
        try context.obtainPermanentIDs(for: Array(chosen))
        noteIDs()
    }

    /// IDs of the objects that are held may have become permanent.
    private mutating func noteIDs() { for (name, object) in held { ids[name] = object.objectID } }

    mutating func rollBack() throws {
        trail.append("rollback")
        context.rollback()
        world = saved
        try check(World.text(of: context), "after a rollback")
    }

    mutating func fetch() throws {
        trail.append("fetch")
        try check(World.text(of: context), "before a save")
    }

    mutating func save() throws {
        trail.append("save")
        do { try context.save() } catch { try #require(Bool(false), "\(error)\nafter \(trail.suffix(60).joined(separator: "; "))") }
        saved = world
        noteIDs()
        if chance(2) { held = held.filter { _ in chance(3) } }
        reader.reset()
        try check(World.text(of: reader), "in the file")
        if chance(3) { try check(World.text(of: context), "after a save") }
    }

    private func check(_ found: [String], _ place: String) throws {
        let expected = world.text
        guard found != expected else { return }
        let missing = expected.filter { !found.contains($0) }, extra = found.filter { !expected.contains($0) }
        try #require(Bool(false), "\(place): missing \(missing), found \(extra)\nafter \(trail.suffix(60).joined(separator: "; "))")
    }
}

@Suite("A context agrees with dictionaries")
struct GraphPropertyTests {
    @Test("after any sequence of inserts, edits, deletes, refreshes, rollbacks and saves, in memory and in the file", arguments: 1...30)
    func walk(seed: UInt64) throws {
        var walk = try Walk(seed: seed)
        for _ in 0..<200 { try walk.step() }
        try walk.save()
        #expect(try walk.library.sql("SELECT COUNT(*) FROM ZCHAPTER WHERE ZBOOK NOT IN (SELECT Z_PK FROM ZBOOK)") == "0")
    }
}
