import Foundation
import Testing

@testable import CoreData

// * A worker, or the context above, changes an object and saves, again and again.
// => What the changes are measured against does not remember all that came before: rows would pile up, and be freed one within the other.
@Suite("What a child's row was copied from")
struct RowChainTests {
    enum Round: CaseIterable {
        case worker, wholeWay, mainToo, mainAlone, rootToo, members, manyToMany, refreshed, refreshedAbove, rollback, newObject, siblings,
            discarded
    }

    private static func depth(of object: NSManagedObject) -> Int {
        var (row, depth) = (object.currentRow, 0)
        while row.isOwn, let base = row.own.base { (row, depth) = (base, depth + 1) }
        return depth
    }

    @Test("remembers one row before it, or two", arguments: Round.allCases, [false, true])
    func chain(round: Round, follows: Bool) throws {
        let layers = try Layers()
        let other = layers.newWorker()
        if follows { for context in [layers.main, layers.worker, other] { context.automaticallyMergesChangesFromParent = true } }
        let book = layers.book("zero", in: layers.worker)
        let tag = Tag(context: layers.worker)
        tag.label = "tag"
        if round == .newObject { try layers.worker.save() } else { try layers.saveAll() }
        let (mine, inMain, inRoot, theirs) = (book, layers.main.own(book), layers.root.own(book), other.own(book))
        for number in 1...30 {
            mine.title = "title \(number)"
            try change(mine, tag, round, number, layers)
            try layers.worker.save()
            switch round {
            case .wholeWay: try layers.saveAll()
            case .mainToo:
                inMain.pages = Int32(number)
                try layers.main.save()
            case .mainAlone: try layers.main.save()
            case .rootToo:
                try layers.main.save()
                inRoot.pages = Int32(number)
                try layers.root.save()
            case .refreshedAbove: layers.main.refresh(inMain, mergeChanges: true)
            case .discarded: layers.main.refresh(inMain, mergeChanges: false)
            case .siblings:
                theirs.title = "sibling \(number)"
                try other.save()
            default: break
            }
        }
        let depths = [mine, inMain, inRoot, theirs].map(Self.depth)
        #expect(depths.allSatisfy { $0 <= 2 }, "\(depths)")
    }

    private func change(_ book: Book, _ tag: Tag, _ round: Round, _ number: Int, _ layers: Layers) throws {
        switch round {
        case .members:
            let chapter = Chapter(context: layers.worker)
            chapter.book = book
            try layers.worker.save()
            layers.worker.delete(chapter)
        case .manyToMany: book.tags = number.isMultiple(of: 2) ? [tag] : []
        case .refreshed:
            try layers.worker.save()
            layers.worker.refresh(book, mergeChanges: true)
            book.pages = Int32(number)
        case .rollback:
            try layers.worker.save()
            book.pages = Int32(number)
            layers.worker.rollback()
            book.pages = Int32(number)
        default: break
        }
    }
}
