import Foundation
import Testing

@testable import CoreData

@Suite("What leads from temporary keys to permanent ones")
struct ForwardingTests {
    let layers: Layers
    var library: Library { layers.library }
    var table: ForwardingTable { layers.root.identityMap.forwardingTable }

    init() throws { layers = try Layers() }

    private func tag(_ label: String, in context: NSManagedObjectContext) -> Tag {
        let tag = Tag(context: context)
        tag.label = label
        return tag
    }

    @Test("stays small over 100,000 objects that a context inserts and saves beside living children that do nothing, or read them all")
    func bounded() throws {
        let reader = layers.newWorker()
        for round in 0..<100 {
            for number in 0..<1000 { _ = tag("\(round) \(number)", in: layers.root) }
            if round.isMultiple(of: 10) { #expect(try reader.all(Tag.self).count == (round + 1) * 1000) }
            try layers.root.save()
            #expect(table.count <= 4 * 4096)
        }
        #expect(try layers.worker.all(Tag.self).count == 100_000)
    }

    @Test("stays small where every object comes up through the layers, while a child that has gone idle holds some of them")
    func boundedThroughLayers() throws {
        let idle = layers.newWorker()
        let (book, tags) = (Book(context: idle), (0..<10).map { tag("idle \($0)", in: idle) })
        book.title = "T"
        book.tags = Set(tags)
        let chapter = Chapter(context: idle)
        chapter.book = book
        try idle.save()
        for round in 0..<60 {
            for number in 0..<500 { _ = tag("\(round) \(number)", in: layers.worker) }
            try layers.saveAll()
            #expect(table.count <= 4 * 4096)
        }
        // => What it holds is what everybody has, under permanent keys now.
        #expect(try idle.one(Tag.self, where: "label == 'idle 3'") === tags[3])
        #expect(chapter.book === book && book.tags == Set(tags) && !book.objectID.isTemporaryID)
        #expect(layers.root.own(chapter).book === layers.root.own(book))
        chapter.heading = "late"
        book.title = "late"
        try idle.save()
        try layers.main.save()
        try layers.root.save()
        #expect(try library.sql("SELECT b.ZTITLE, c.ZHEADING FROM ZBOOK b JOIN ZCHAPTER c ON c.ZBOOK = b.Z_PK") == "late|late")
    }

    @Test("is still known of a relationship that only a row says, and of an ID that only the program has, thousands of saves later")
    func held() throws {
        let chapter = Chapter(context: layers.worker)
        weak var forgotten: Book?
        let id: NSManagedObjectID
        do {
            let book = Book(context: layers.worker)
            book.title = "T"
            (chapter.book, forgotten) = (book, book)
            id = book.objectID
            try layers.worker.save()
        }
        try layers.main.save()
        try layers.root.save()
        #expect(id.isTemporaryID && forgotten == nil)
        for round in 0..<20 {
            for number in 0..<1000 { _ = tag("\(round) \(number)", in: layers.root) }
            try layers.root.save()
        }
        #expect(table.count <= 4 * 4096)
        let book = try #require(chapter.book)
        #expect(book.title == "T" && !book.objectID.isTemporaryID && layers.worker.object(with: id) === book)
        #expect(try layers.worker.all(Book.self) == [book])
    }

    @Test("forgets which saves have gone back, of objects that nobody names any more; of others it does not")
    func returned() {
        let table = ForwardingTable()
        let holder = table.names.join()
        table.names.add(-10...(-1), to: holder)
        for round in Int64(0)..<20 {
            table.noteReturned((1...1000).map { RowReference(key: -1000 * round - $0, entity: 0, store: 0) }, CocoaError(.userCancelled))
        }
        #expect(table.returned.count <= 4096 + 1000)
        #expect(table.returned[RowReference(key: -10, entity: 0, store: 0)] != nil)
        table.returned.remove([RowReference(key: -10, entity: 0, store: 0)])
        #expect(table.returned[RowReference(key: -10, entity: 0, store: 0)] == nil)
    }
}

@Suite("Ranges of keys")
struct KeyRangesTests {
    @Test("hold at least what was put in, and little else", arguments: [UInt64(1), 2, .random(in: 3...9_999)])
    func property(_ seed: UInt64) {
        var random = SeededGenerator(seed)
        var (ranges, keys): (KeyRanges, Set<Int64>) = (KeyRanges(), [])
        for _ in 0..<300 {
            let first = Int64.random(in: -2000...(-1), using: &random)
            let range = first...min(-1, first + Int64.random(in: 0...30, using: &random))
            #expect(ranges.insert(range) == !range.allSatisfy(keys.contains))
            keys.formUnion(range)
            #expect((-2001...0).allSatisfy { ranges.contains($0) == keys.contains($0) })
            #expect(KeyRanges(keys) == ranges)
        }
        // * Too many to be kept apart.
        let many = KeyRanges((0..<10_000).map { -3 * $0 - ($0.isMultiple(of: 100) ? 1 : 0) })
        #expect(many.ranges.count <= 256 && (0..<10_000).allSatisfy { many.contains(-3 * $0 - ($0.isMultiple(of: 100) ? 1 : 0)) })
        var union = ranges
        #expect(union.formUnion(many) && !union.formUnion(ranges) && keys.allSatisfy(union.contains))
    }
}
