import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Edits three layers of contexts and the dictionaries alike, by chance.
private struct LayeredWalk {
    let library: Library
    var contexts: [NSManagedObjectContext]
    var random: SeededGenerator
    var world: LayeredWorld
    /// The ID that each object had first, temporary or not, and the one it had last.
    var ids: [Int: (first: NSManagedObjectID, last: NSManagedObjectID)] = [:]
    var last = 0
    var trail: [String] = []

    init(seed: UInt64, workers: Int = 2) throws {
        let layers = try Layers()
        // So that what is forwarded no longer is found out here.
        layers.root.identityMap.forwardingTable.smallestLimit.store(8, ordering: .relaxed)
        library = layers.library
        contexts = [layers.root, layers.main, layers.worker] + (1..<workers).map { _ in layers.newWorker() }
        random = SeededGenerator(seed &+ 17)
        for _ in 0..<8 { _ = random.next() }
        world = LayeredWorld(layers: contexts.count)
        for context in contexts { context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump }
    }

    mutating func roll(_ n: Int) -> Int { Int.random(in: 0..<n, using: &random) }
    mutating func chance(_ n: Int) -> Bool { roll(n) == 0 }
    mutating func pick(_ values: some Sequence<Int>) -> Int? { values.sorted().randomElement(using: &random) }

    mutating func object<Object: NSManagedObject>(_ id: Int, _ type: Object.Type, in layer: Int) throws -> Object {
        let known = try #require(ids[id])
        return try #require(contexts[layer].object(with: chance(2) ? known.first : known.last) as? Object)
    }
    mutating func note(_ object: NSManagedObject, _ id: Int) { ids[id] = (ids[id]?.first ?? object.objectID, object.objectID) }

    /// Brings a layer up to date with those above it.
    func refresh(_ layer: Int) { for above in LayeredWorld.chain(of: layer) { contexts[above].refreshAllObjects() } }

    mutating func step() throws {
        let layer = roll(8) == 0 ? 0 : roll(4) == 0 ? 1 : 2 + roll(contexts.count - 2)
        guard world.isCertain(layer) else {
            for above in LayeredWorld.chain(of: layer).reversed() { try save(above) }
            return
        }
        refresh(layer)
        let view = world.view(layer)
        switch roll(24) {
        case 0...4: try insert(layer, view)
        case 5...6: try setNumber(layer, view)
        case 7...8: try setAuthor(layer, view)
        case 9: try setBoss(layer, view)
        case 10...11: try editTags(layer, view)
        case 12...14: try editChapters(layer, view)
        case 15...16: try delete(layer, view)
        case 17: if chance(3) { discard(layer) }
        case 18: try obtainIDs(layer)
        case 19: try fetch(layer, view)
        case 20: try check(layer)
        default: try save(layer)
        }
        contexts[layer].processPendingChanges()
        try settleStaleLayers()
    }

    /// Layers with changes to something that was deleted above save them, or drop them, before it is gone from there too.
    private mutating func settleStaleLayers() throws {
        if world.isStale(1) { for worker in contexts.indices.dropFirst(2) { discard(worker) } }
        for layer in contexts.indices.dropFirst().reversed() where world.isStale(layer) {
            if chance(3) { discard(layer) } else { try save(layer) }
        }
    }

    private mutating func insert(_ layer: Int, _ view: World) throws {
        last += 1
        let context = contexts[layer]
        switch roll(5) {
        case 0:
            let author = Author(context: context)
            (author.name, author.age) = ("a\(last)", 0)
            world.changes[layer].inserted[last] = .author
            note(author, last)
        case 1:
            let tag = Tag(context: context)
            tag.label = "t\(last)"
            world.changes[layer].inserted[last] = .tag
            note(tag, last)
        case 2...3 where !view.books.isEmpty:
            let owner = pick(view.books.keys)!
            let chapter = Chapter(context: context)
            chapter.heading = "c\(last)"
            chapter.book = try object(owner, Book.self, in: layer)
            world.changes[layer].inserted[last] = .chapter
            world.changes[layer].move(last, to: owner)
            world.changes[layer].touched.insert(owner)
            note(chapter, last)
        default:
            let book = Book(context: context)
            (book.title, book.pages) = ("b\(last)", 0)
            world.changes[layer].inserted[last] = .book
            note(book, last)
        }
        trail.append("\(layer): insert \(world.changes[layer].inserted[last]!) \(last)")
    }

    private mutating func setNumber(_ layer: Int, _ view: World) throws {
        guard let id = pick(Array(view.books.keys) + view.authors.keys) else { return }
        // NB: one that nobody has. Who sets what is there anyway has changed nothing, and what others save counts: EqualValueTests.
        let taken = Set(
            world.changes.compactMap { $0.numbers[id] } + [0, world.stored.books[id]?.pages ?? world.stored.authors[id]?.age ?? 0]
        )
        guard let number = pick((1..<8).filter { !taken.contains($0) }) else { return }
        trail.append("\(layer): number of \(id) = \(number)")
        if view.books[id] != nil {
            try object(id, Book.self, in: layer).pages = Int32(number)
        } else {
            try object(id, Author.self, in: layer).age = Int16(number)
        }
        world.changes[layer].numbers[id] = number
    }

    private mutating func setAuthor(_ layer: Int, _ view: World) throws {
        guard let id = pick(view.books.keys) else { return }
        let owner = chance(4) ? nil : pick(view.authors.keys)
        trail.append("\(layer): b\(id).author = \(owner ?? 0)")
        let book = try object(id, Book.self, in: layer)
        switch (owner, view.books[id]?.author) {
        case (let owner?, _) where chance(2):
            let author = try object(owner, Author.self, in: layer)
            if view.books[id]?.author == owner { return }
            author.addToBooks(book)
        case (nil, let old?) where chance(2): try object(old, Author.self, in: layer).removeFromBooks(book)
        default: book.author = try owner.map { try object($0, Author.self, in: layer) }
        }
        world.changes[layer].touched.formUnion([owner, view.books[id]?.author].compactMap { $0 })
        world.changes[layer].touched.insert(id)
        if view.books[id]?.author != owner { world.changes[layer].authors[id] = .some(owner) }
    }

    private mutating func setBoss(_ layer: Int, _ view: World) throws {
        guard let id = pick(view.authors.keys) else { return }
        let boss = chance(4) ? nil : pick(view.authors.keys)
        trail.append("\(layer): a\(id).boss = \(boss ?? 0)")
        try object(id, Author.self, in: layer).boss = boss.map { try object($0, Author.self, in: layer) }
        world.changes[layer].touched.formUnion([boss, view.authors[id]?.boss].compactMap { $0 })
        world.changes[layer].touched.insert(id)
        if view.authors[id]?.boss != boss { world.changes[layer].bosses[id] = .some(boss) }
    }

    private mutating func editTags(_ layer: Int, _ view: World) throws {
        guard let id = pick(view.books.keys), let mark = pick(view.tags) else { return }
        let adds = !chance(3)
        trail.append("\(layer): b\(id) \(adds ? "+" : "-") t\(mark)")
        let (book, tag) = (try object(id, Book.self, in: layer), try object(mark, Tag.self, in: layer))
        if view.books[id]?.tags.contains(mark) == adds { return }
        let (members, member) =
            chance(2) ? (book.mutableSetValue(forKey: "tags"), tag as Any) : (tag.mutableSetValue(forKey: "books"), book as Any)
        if adds { members.add(member) } else { members.remove(member) }
        world.changes[layer].links[LayerChanges.Link(book: id, tag: mark)] = adds
    }

    private mutating func editChapters(_ layer: Int, _ view: World) throws {
        guard let id = pick(view.books.keys), let part = pick(view.chapters) else { return }
        let book = try object(id, Book.self, in: layer)
        if chance(2) {
            let order = (view.books[id]?.chapters ?? []).shuffled(using: &random)
            trail.append("\(layer): b\(id).chapters = \(order)")
            if order == view.books[id]?.chapters { return }
            book.chapters = try order.map { try object($0, Chapter.self, in: layer) }
            world.changes[layer].orders[id] = order
        } else if view.books[id]?.chapters.contains(part) != true {
            trail.append("\(layer): c\(part).book = b\(id)")
            try object(part, Chapter.self, in: layer).book = book
            world.changes[layer].touched.formUnion([id, view.book(of: part)].compactMap { $0 })
            world.changes[layer].move(part, to: id)
        }
    }

    private mutating func delete(_ layer: Int, _ view: World) throws {
        guard let id = pick(view.ids) else { return }
        trail.append("\(layer): delete \(id)")
        contexts[layer].delete(try object(id, NSManagedObject.self, in: layer))
        contexts[layer].processPendingChanges()
        world.delete(id, in: layer)
    }

    /// Drops a layer's changes, and those of all below, which may refer to them.
    private mutating func discard(_ layer: Int) {
        trail.append("\(layer): discard")
        for below in contexts.indices.reversed() where LayeredWorld.chain(of: below).contains(layer) {
            if below > 1, chance(2) {
                contexts[below] = Layers.child(of: contexts[1], "new worker")
                contexts[below].mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            } else if below != layer || chance(2) {
                contexts[below].reset()
            } else {
                contexts[below].rollback()
            }
            world.discard(below)
        }
    }

    private mutating func obtainIDs(_ layer: Int) throws {
        trail.append("\(layer): obtain IDs")
        let chosen = contexts[layer].insertedObjects.sorted { "\($0.objectID)" < "\($1.objectID)" }.filter { _ in chance(2) }
        try contexts[layer].obtainPermanentIDs(for: chosen)
        noteIDs(layer)
    }

    private mutating func noteIDs(_ layer: Int) {
        for (id, known) in ids {
            guard let object = contexts[layer].registeredObject(for: known.last) else { continue }
            ids[id]?.last = object.objectID
        }
    }

    mutating func save(_ layer: Int) throws {
        // Nothing is read for a delete that comes from a child: what it leaves behind in the middle is for the topmost context to find.
        if layer > 1, world.leavesMuch(layer) { return discard(layer) }
        trail.append("\(layer): save")
        refresh(layer)
        do { try contexts[layer].save() } catch { try fail("saving \(layer): \(error)") }
        world.save(layer)
        noteIDs(layer)
        guard layer == 0 else { return }
        try compare(World.text(of: library.separateContext()), world.stored, "in the file")
    }

    private mutating func fetch(_ layer: Int, _ view: World) throws {
        guard world.isCertain(layer) else { return }
        let context = chance(2) ? contexts[layer] : Layers.child(of: contexts[layer], "reader")
        let query = LayerQuery(view, &random)
        let found = try query.run(context)
        if found != query.expected { try fail("layer \(layer), \(query.text): found \(found), expected \(query.expected)") }
    }

    /// What a fresh child of each layer sees, and what the layer itself sees.
    mutating func check(_ layer: Int) throws {
        trail.append("\(layer): check")
        guard world.isCertain(layer), !world.isStale(layer) else { return }
        let view = world.view(layer)
        try compare(World.text(of: Layers.child(of: contexts[layer], "reader")), view, "below \(layer)")
        refresh(layer)
        try compare(World.text(of: contexts[layer]), view, "in \(layer)")
        for id in view.ids {
            if try contexts[layer].existingObject(with: #require(ids[id]).first).objectID != ids[id]?.first { try fail("ID of \(id)") }
        }
    }

    private func compare(_ found: [String], _ world: World, _ place: String) throws {
        let expected = world.text
        guard found != expected else { return }
        try fail("\(place): missing \(expected.filter { !found.contains($0) }), found \(found.filter { !expected.contains($0) })")
    }

    private func fail(_ text: String) throws {
        try #require(Bool(false), "\(text)\nafter \(trail.suffix(80).joined(separator: "; "))")
    }
}

/// A fetch by chance, and what it must give.
private struct LayerQuery {
    let entity: String
    let key: String
    let format: String?
    var sorts: [NSSortDescriptor] = []
    let limit: Int
    let offset: Int
    let all: [String]

    init(_ view: World, _ random: inout SeededGenerator) {
        func roll(_ n: Int) -> Int { Int.random(in: 0..<n, using: &random) }
        let number = roll(4)
        var names: [(name: String, number: Int)]
        if roll(3) == 0 {
            (entity, key) = ("Author", "name")
            let (text, matches): (String?, (Int, World.AuthorFacts) -> Bool) =
                switch roll(5) {
                case 0: ("age >= \(number)", { $1.age >= number })
                case 1: ("boss.age == \(number)", { _, author in author.boss.map { view.authors[$0]?.age == number } ?? false })
                case 2: ("ANY books.pages > \(number)", { id, _ in view.books.values.contains { $0.author == id && $0.pages > number } })
                case 3: ("books.@count == \(number)", { id, _ in view.books.values.count { $0.author == id } == number })
                default: (nil, { _, _ in true })
                }
            format = text
            names = view.authors.filter { matches($0.key, $0.value) }.map { ("a\($0.key)", $0.value.age) }
        } else {
            (entity, key) = ("Book", "title")
            let (text, matches): (String?, (Int, World.BookFacts) -> Bool) =
                switch roll(7) {
                case 0: ("pages < \(number)", { $1.pages < number })
                case 1: ("author.age != \(number)", { _, book in book.author.map { view.authors[$0]?.age != number } ?? false })
                case 2: ("author == nil", { $1.author == nil })
                case 3: ("tags.@count >= \(number)", { $1.tags.count >= number })
                case 4: ("ANY tags.label > 't3'", { $1.tags.contains { "t\($0)" > "t3" } })
                case 5: ("chapters.@count == \(number)", { $1.chapters.count == number })
                default: (nil, { _, _ in true })
                }
            format = text
            names = view.books.filter { matches($0.key, $0.value) }.map { ("b\($0.key)", $0.value.pages) }
        }
        (limit, offset) = (roll(3) == 0 ? roll(5) : 0, roll(3) == 0 ? roll(4) : 0)
        names.sort { $0.name < $1.name }
        sorts = [NSSortDescriptor(key: key, ascending: true)]
        if roll(2) == 0 {
            names.sort { ($1.number, $0.name) < ($0.number, $1.name) }
            sorts.insert(NSSortDescriptor(key: entity == "Book" ? "pages" : "age", ascending: false), at: 0)
        }
        all = names.map(\.name)
    }

    var expected: [String] {
        let rest = all.dropFirst(offset)
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }

    var text: String { "\(entity) where \(format ?? "-"), \(sorts.count) sorts, limit \(limit), offset \(offset)" }

    func run(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        (request.predicate, request.sortDescriptors) = (format.map { NSPredicate(format: $0) }, sorts)
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        let found = try context.fetch(request).map { $0.value(forKey: key) as? String ?? "nil" }
        let count = try context.count(for: request)
        return count == found.count ? found : found + ["but counts \(count)"]
    }
}

@Suite("Layers of contexts agree with dictionaries")
struct LayerPropertyTests {
    @Test("after any sequence of edits, saves, discards and fetches in any layer, in memory and in the file", arguments: Self.seeds)
    func walk(seed: UInt64) throws {
        var walk = try LayeredWalk(seed: seed, workers: seed.isMultiple(of: 3) ? 3 : 2)
        for _ in 0..<150 { try walk.step() }
        for layer in walk.contexts.indices.reversed() { try walk.save(layer) }
        for layer in walk.contexts.indices { try walk.check(layer) }
        #expect(try walk.library.sql("SELECT COUNT(*) FROM ZCHAPTER WHERE ZBOOK NOT IN (SELECT Z_PK FROM ZBOOK)") == "0")
    }

    /// More when asked for in the environment.
    private static let seeds: ClosedRange<UInt64> = {
        let asked = ProcessInfo.processInfo.environment["LAYER_SEEDS"]?.split(separator: "-").compactMap { UInt64($0) } ?? []
        return asked.count == 2 && asked[0] <= asked[1] ? asked[0]...asked[1] : 1...40
    }()
}
