/// What one layer has not saved: differences to what its parent holds, as plain dictionaries.
struct LayerChanges {
    enum Kind { case author, book, chapter, tag }
    struct Link: Hashable {
        let book: Int
        let tag: Int
    }

    var inserted: [Int: Kind] = [:]
    var deleted: Set<Int> = []
    /// Pages of books, ages of authors.
    var numbers: [Int: Int] = [:]
    var authors: [Int: Int?] = [:]
    var bosses: [Int: Int?] = [:]
    /// The books of chapters.
    var books: [Int: Int] = [:]
    var links: [Link: Bool] = [:]
    /// Chapters that were put at the end of a book, and the order that others were given.
    var appended: [Int: [Int]] = [:]
    var orders: [Int: [Int]] = [:]
    /// Objects that others began or ceased to refer to.
    var touched: Set<Int> = []

    /// The objects that must exist for the changes to mean something.
    var mentioned: Set<Int> {
        var ids = Set(numbers.keys).union(authors.keys).union(bosses.keys).union(books.keys).union(books.values).union(orders.keys)
        ids.formUnion(authors.values.compactMap { $0 })
        ids.formUnion(bosses.values.compactMap { $0 })
        for link in links.keys { ids.formUnion([link.book, link.tag]) }
        return ids.union(touched)
    }

    /// Without what is so anyway.
    func without(unchangedIn world: World) -> LayerChanges {
        var rest = self
        rest.numbers = numbers.filter { $1 != world.books[$0]?.pages ?? world.authors[$0]?.age }
        rest.authors = authors.filter { inserted[$0] != nil || $1 != world.books[$0]?.author }
        rest.bosses = bosses.filter { inserted[$0] != nil || $1 != world.authors[$0]?.boss }
        return rest
    }

    mutating func move(_ chapter: Int, to book: Int) {
        for other in appended.keys { appended[other]?.removeAll { $0 == chapter } }
        for other in orders.keys { orders[other]?.removeAll { $0 == chapter } }
        books[chapter] = book
        appended[book, default: []].append(chapter)
    }

    mutating func delete(_ id: Int) {
        if inserted[id] != nil { inserted[id] = nil } else { deleted.insert(id) }
        (numbers[id], authors[id], bosses[id], books[id], orders[id], appended[id]) = (nil, nil, nil, nil, nil, nil)
        touched.remove(id)
        links = links.filter { $0.key.book != id && $0.key.tag != id }
        for book in appended.keys { appended[book]?.removeAll { $0 == id } }
        for book in orders.keys { orders[book]?.removeAll { $0 == id } }
    }
}

extension World {
    var ids: Set<Int> { Set(authors.keys).union(books.keys).union(tags).union(chapters) }

    /// The world as somebody sees it who has unsaved changes.
    mutating func apply(_ changes: LayerChanges) {
        // Also those that leave a book which is deleted.
        let known = Set(chapters).subtracting(changes.deleted)
        for id in changes.deleted {
            (authors[id], books[id]) = (nil, nil)
            tags.remove(id)
            for book in books.keys {
                books[book]?.tags.remove(id)
                books[book]?.chapters.removeAll { $0 == id }
            }
        }
        for (id, kind) in changes.inserted {
            switch kind {
            case .author: authors[id] = AuthorFacts()
            case .book: books[id] = BookFacts()
            case .tag: tags.insert(id)
            case .chapter: break
            }
        }
        for (id, number) in changes.numbers {
            books[id]?.pages = number
            authors[id]?.age = number
        }
        for (id, author) in changes.authors { books[id]?.author = author }
        for (id, boss) in changes.bosses { authors[id]?.boss = boss }
        for (link, isThere) in changes.links where tags.contains(link.tag) {
            if isThere { books[link.book]?.tags.insert(link.tag) } else { books[link.book]?.tags.remove(link.tag) }
        }
        applyPlaces(changes, known)
    }

    private mutating func applyPlaces(_ changes: LayerChanges, _ known: Set<Int>) {
        let moved = changes.books.filter { known.contains($0.key) || changes.inserted[$0.key] != nil }
        for book in books.keys { books[book]?.chapters.removeAll { moved[$0] != nil && moved[$0] != book } }
        for (book, chapters) in changes.appended {
            books[book]?.chapters.removeAll(where: chapters.contains)
            books[book]?.chapters += chapters.filter { moved[$0] == book }
        }
        for (book, order) in changes.orders {
            guard let members = books[book]?.chapters else { continue }
            books[book]?.chapters = order.filter(members.contains) + members.filter { !order.contains($0) }
        }
    }

    /// What goes with an object by the delete rules, itself included.
    func cascade(of id: Int) -> [Int] {
        var gone = [id]
        if authors[id] != nil { gone += books.filter { $0.value.author == id }.keys.sorted().flatMap(cascade) }
        if let book = books[id] { gone += book.chapters }
        return gone
    }

    /// What is related to an object.
    func neighbours(of id: Int) -> Set<Int> {
        let book = books[id]
        let ids =
            reports(of: id) + [authors[id]?.boss, book?.author, self.book(of: id)].compactMap { $0 } + (book?.chapters ?? [])
            + (book?.tags ?? [])
            + books.filter { $0.value.author == id || $0.value.tags.contains(id) }.keys
        return Set(ids)
    }

    func reports(of id: Int) -> [Int] { authors.filter { $0.value.boss == id }.keys.sorted() }
}

/// Root, main and workers as dictionaries over dictionaries.
struct LayeredWorld {
    var stored = World()
    /// By layer: root, main, then workers.
    var changes: [LayerChanges]
    /// Whether a layer may know more, or less, than is said here, until its next save: a delete met what a layer above had changed.
    var isUncertain: [Bool]

    init(layers: Int) {
        changes = Array(repeating: LayerChanges(), count: layers)
        isUncertain = Array(repeating: false, count: layers)
    }

    static func parent(of layer: Int) -> Int { layer == 1 ? 0 : 1 }
    static func chain(of layer: Int) -> [Int] { layer == 0 ? [0] : chain(of: parent(of: layer)) + [layer] }

    func view(_ layer: Int) -> World {
        var world = layer == 0 ? stored : view(Self.parent(of: layer))
        world.apply(changes[layer])
        return world
    }

    func isCertain(_ layer: Int) -> Bool { !Self.chain(of: layer).contains { isUncertain[$0] || leavesMuch($0) } }

    /// Whether something that refers to what the layer deleted came to the layers above since.
    func leavesMuch(_ layer: Int) -> Bool {
        let above = layer == 0 ? stored : view(Self.parent(of: layer))
        let changes = changes[layer]
        return changes.deleted.contains { id in
            !above.cascade(of: id).allSatisfy { changes.deleted.contains($0) || changes.authors[$0] != nil || changes.books[$0] != nil }
                || !above.reports(of: id).allSatisfy { changes.deleted.contains($0) || changes.bosses[$0] != nil }
        }
    }

    /// Whether something that the layer changed, or refers to, was deleted above.
    func isStale(_ layer: Int) -> Bool { !changes[layer].mentioned.isSubset(of: view(layer).ids) }

    mutating func delete(_ id: Int, in layer: Int) {
        let view = view(layer)
        guard view.ids.contains(id) else { return }
        for gone in view.cascade(of: id) {
            changes[layer].touched.formUnion(view.neighbours(of: gone))
            for report in view.reports(of: gone) { changes[layer].bosses[report] = .some(nil) }
        }
        for gone in view.cascade(of: id) { changes[layer].delete(gone) }
    }

    mutating func discard(_ layer: Int) { (changes[layer], isUncertain[layer]) = (LayerChanges(), false) }

    mutating func save(_ layer: Int) {
        let pushed = changes[layer]
        let wasUncertain = isUncertain[layer]
        if layer == 0 { stored = view(0) }
        discard(layer)
        guard layer > 0 else { return }
        let parent = Self.parent(of: layer)
        if wasUncertain { isUncertain[parent] = true }
        take(pushed.without(unchangedIn: view(parent)), in: parent)
    }

    private mutating func take(_ pushed: LayerChanges, in parent: Int) {
        for (id, kind) in pushed.inserted { changes[parent].inserted[id] = kind }
        let known = view(parent).ids.union(pushed.books.keys.filter { pushed.inserted[$0] != nil })
        if !pushed.mentioned.isSubset(of: known) { isUncertain[parent] = true }
        for (id, number) in pushed.numbers where known.contains(id) { changes[parent].numbers[id] = number }
        for (id, author) in pushed.authors where known.contains(id) { changes[parent].authors[id] = author }
        for (id, boss) in pushed.bosses where known.contains(id) {
            changes[parent].bosses[id] = .some(boss.map(known.contains) == true ? boss : nil)
        }
        changes[parent].touched.formUnion(pushed.touched.intersection(known))
        for (link, isThere) in pushed.links where known.isSuperset(of: [link.book, link.tag]) { changes[parent].links[link] = isThere }
        takePlaces(pushed, known, in: parent)
        // What was put under something that is deleted here follows its delete rule.
        for (id, author) in pushed.authors { if let author, !known.contains(author) { delete(id, in: parent) } }
        for (id, book) in pushed.books where !known.contains(book) {
            changes[parent].delete(id)
        }
        for id in pushed.deleted.sorted() {
            let others = Set(view(parent).cascade(of: id)).union(view(parent).reports(of: id)).subtracting(pushed.deleted)
            if view(parent).ids.contains(id), !others.isEmpty { isUncertain[parent] = true }
            delete(id, in: parent)
        }
    }

    private mutating func takePlaces(_ pushed: LayerChanges, _ known: Set<Int>, in parent: Int) {
        let before = view(parent)
        let appended = pushed.appended.sorted { $0.key < $1.key }.flatMap(\.value)
        for chapter in appended + pushed.books.keys.filter({ !appended.contains($0) }).sorted() {
            guard let book = pushed.books[chapter], known.contains(chapter), before.books[book]?.chapters.contains(chapter) != true else {
                continue
            }
            changes[parent].move(chapter, to: book)
        }
        for (book, order) in pushed.orders where known.contains(book) {
            let members = view(parent).books[book]?.chapters ?? []
            changes[parent].orders[book] = order.filter(members.contains) + members.filter { !order.contains($0) }
        }
    }
}
