import CoreData
import Foundation
import Testing

/// A book whose chapters two coordinators put in order, each without knowing of the other.
private struct RivalOrders {
    let library: Library
    let (mine, theirs): (NSManagedObjectContext, NSManagedObjectContext)
    let (myBook, theirBook): (Book, Book)

    init(_ kind: StoreKind, _ policy: NSMergePolicyType = .errorMergePolicyType) throws {
        let library = try Library(kind)
        self.library = library
        let book = Book(context: library.context)
        (book.title, book.pages) = ("T", 1)
        book.chapters = "abcdef".map { Self.chapter("\($0)", library.context) }
        try library.context.save()
        (mine, theirs) = (library.newContext(), try library.separateContext())
        mine.mergePolicy = NSMergePolicy(merge: policy)
        myBook = try #require(try mine.all(Book.self, "Book").first)
        theirBook = try #require(try theirs.all(Book.self, "Book").first)
        #expect(Self.headings(myBook) == "abcdef" && Self.headings(theirBook) == "abcdef")
    }

    static func chapter(_ heading: String, _ context: NSManagedObjectContext) -> Chapter {
        let chapter = Chapter(context: context)
        chapter.heading = heading
        return chapter
    }

    static func headings(_ book: Book) -> String { book.chapters.compactMap(\.heading).joined() }

    /// What somebody finds who knows nothing yet.
    func stored() throws -> String {
        let reader = try library.separateContext()
        let book = try #require(try reader.all(Book.self, "Book").first { $0.title == "T" })
        return Self.headings(book)
    }
}

/// What can be done to the order of six chapters.
private enum OrderEdit: CaseIterable {
    case reverse, takeLastToFront, takeFirstToEnd, exchange, insert, append, delete, putBackReversed

    func run(_ book: Book, _ context: NSManagedObjectContext, _ heading: String) {
        let members = book.mutableOrderedSetValue(forKey: "chapters")
        switch self {
        case .reverse: book.chapters.reverse()
        case .takeLastToFront: take(members, 5, to: 0)
        case .takeFirstToEnd: take(members, 0, to: 5)
        case .exchange: members.exchangeObject(at: 1, withObjectAt: 2)
        case .insert: members.insert(RivalOrders.chapter(heading, context), at: 2)
        case .append: members.add(RivalOrders.chapter(heading, context))
        case .delete: context.delete(book.chapters[2])
        case .putBackReversed:
            let chapters = book.chapters
            book.chapters = []
            book.chapters = chapters.reversed()
        }
        context.processPendingChanges()
    }

    private func take(_ members: NSMutableOrderedSet, _ index: Int, to other: Int) {
        let member = members.object(at: index)
        members.removeObject(at: index)
        members.insert(member, at: other)
    }
}

@Suite("An ordered relationship that others have changed too")
struct RivalOrderTests {
    @Test(
        "is in one of the two orders afterwards, under any policy: no member is in twice, and nobody's is lost",
        arguments: [
            NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .overwriteMergePolicyType, .rollbackMergePolicyType,
        ]
    )
    func orders(policy: NSMergePolicyType) throws {
        for (index, (theirs, mine)) in OrderEdit.allCases.flatMap({ their in OrderEdit.allCases.map { (their, $0) } }).enumerated() {
            let rivals = try RivalOrders(index % 4 == 0 ? .file : .memory, policy)
            theirs.run(rivals.theirBook, rivals.theirs, "x")
            mine.run(rivals.myBook, rivals.mine, "y")
            let (their, my) = (RivalOrders.headings(rivals.theirBook), RivalOrders.headings(rivals.myBook))
            try rivals.theirs.save()
            try rivals.mine.save()
            let found = try rivals.stored()
            let all = Set(found), common = all.intersection(their).intersection(my)
            let orders = [found, their, my].map { $0.filter(common.contains) }
            let comment: Comment = "theirs \(their), mine \(my): \(found)"
            #expect(all.count == found.count, comment)
            #expect(orders[0] == orders[1] || orders[0] == orders[2], comment)
            #expect(all.isSuperset(of: Set(their).intersection(my)), comment)
            #expect(all.isSuperset(of: Set(their).subtracting("abcdef")), comment)
            #expect(RivalOrders.headings(rivals.myBook) == found, comment)
        }
    }

    // * Two have read the list, of a book that one of them has never read, and both put a chapter at the end.
    // => Who comes second is told, or has his after theirs: nobody's position is another's.
    @Test("gives no two members one position, though each was put at the end", arguments: StoreKind.allCases, [true, false])
    func bothAppend(kind: StoreKind, isRead: Bool) throws {
        let rivals = try RivalOrders(kind, .mergeByPropertyObjectTrumpMergePolicyType)
        let late = rivals.library.newContext()
        late.mergePolicy = rivals.mine.mergePolicy
        let book = isRead ? late.own(rivals.myBook) : try #require(late.object(with: rivals.myBook.objectID) as? Book)
        if isRead { #expect(book.title == "T") }
        #expect(RivalOrders.headings(book) == "abcdef")
        OrderEdit.append.run(rivals.theirBook, rivals.theirs, "x")
        OrderEdit.append.run(book, late, "y")
        try rivals.theirs.save()
        try late.save()
        #expect(try rivals.stored() == "abcdefxy")
        #expect(RivalOrders.headings(book) == "abcdefxy")
        #expect(try rivals.library.sql("SELECT COUNT(*), COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER") == "8|8")
    }

    @Test(
        "is theirs where a policy rolls mine back, also of a member that was taken out and put in elsewhere",
        arguments: StoreKind.allCases
    )
    func rolledBack(kind: StoreKind) throws {
        let rivals = try RivalOrders(kind, .rollbackMergePolicyType)
        OrderEdit.exchange.run(rivals.theirBook, rivals.theirs, "")
        try rivals.theirs.save()
        OrderEdit.takeLastToFront.run(rivals.myBook, rivals.mine, "")
        try rivals.mine.save()
        #expect(try rivals.stored() == "acbdef")
        #expect(RivalOrders.headings(rivals.myBook) == "acbdef")
    }

    @Test(
        "is as it was where the owner is refreshed without its changes, also with members that were put back",
        arguments: StoreKind.allCases
    )
    func refreshed(kind: StoreKind) throws {
        let rivals = try RivalOrders(kind)
        OrderEdit.putBackReversed.run(rivals.myBook, rivals.mine, "")
        rivals.mine.refresh(rivals.myBook, mergeChanges: false)
        #expect(RivalOrders.headings(rivals.myBook) == "abcdef")
        try rivals.mine.save()
        #expect(try rivals.stored() == "abcdef")
    }
}
