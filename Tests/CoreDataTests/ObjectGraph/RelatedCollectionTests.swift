import Foundation
import Testing

@testable import CoreData

extension Book {
    fileprivate var liveTags: RelatedSet<Tag> {
        get { self[ToMany<Tag>("tags")] }
        _modify { yield &self[ToMany<Tag>("tags")] }
    }
    fileprivate var liveChapters: RelatedList<Chapter> {
        get { self[OrderedToMany<Chapter>("chapters")] }
        _modify { yield &self[OrderedToMany<Chapter>("chapters")] }
    }
}

@Suite("A property that is a live collection")
struct RelatedCollectionTests {
    let library: Library
    let book: Book
    var context: NSManagedObjectContext { library.context }

    init() throws {
        library = try Library()
        book = Book(context: library.context)
        book.title = "T"
    }

    private func tags(_ count: Int) -> [Tag] { (0..<count).map { _ in Tag(context: context) } }

    private func storage(_ key: String) -> ObjectIdentifier? { book.realizedContents(book.toManyIndex(key)).members?.sharedStorage }
    private var headings: String { book.chapters.compactMap(\.heading).joined() }

    @Test("changes the relationship in place, inverses included, and copies nothing")
    func inPlace() throws {
        let tags = tags(30)
        book.liveTags = Set(tags.prefix(20)).reduce(into: []) { $0.insert($1) }
        book.liveChapters.append(contentsOf: (0..<20).map { library.chapter("\($0),") })
        let before = (storage("tags"), storage("chapters"))
        for tag in tags[20...] { #expect(book.liveTags.insert(tag).inserted && tag.books == [book]) }
        #expect(!book.liveTags.insert(tags[0]).inserted && book.liveTags.remove(tags[1]) === tags[1] && tags[1].books.isEmpty)
        book.liveChapters.append(library.chapter("a"))
        book.liveChapters.insert(library.chapter("b"), at: 3)
        #expect(book.liveChapters.remove(at: 0).book == nil)
        book.liveChapters[1] = library.chapter("c")
        #expect(book.liveTags.count == 29 && book.liveTags.contains(tags[25]) && book.liveChapters.count == 21)
        #expect(before.0 != nil && before == (storage("tags"), storage("chapters")))
        #expect(headings.hasPrefix("1,cb3,") && headings.hasSuffix("19,a"))
        for chapter in try context.all(Chapter.self, "Chapter") where chapter.book == nil { context.delete(chapter) }
        try context.save()
        let reader = try library.separateContext()
        defer { withExtendedLifetime(reader) {} }
        let read = try reader.only(Book.self, "Book")
        #expect(read.liveChapters.compactMap(\.heading).joined() == headings && read.liveTags.count == 29)
    }

    @Test("is changed in place also by replacing several members at once, and counts and indexes as a set does")
    func replacing() {
        book.liveChapters.append(contentsOf: "abcdef".map { library.chapter(String($0)) })
        let before = storage("chapters")
        let (former, chapters) = (book.chapters[1], Book.OrderedToMany<Chapter>("chapters"))
        book.replace(at: [1, 4], with: [library.chapter("B"), library.chapter("E")], in: chapters)
        #expect(headings == "aBcdEf" && before == storage("chapters") && former.book == nil)
        book.replace(at: [0, 5], with: [book.chapters[5], book.chapters[0]], in: chapters)
        #expect(headings == "fBcdEa" && book.chapters.allSatisfy { $0.book === book })
        let tags = tags(5)
        for tag in tags { book.liveTags.insert(tag) }
        let set = book.liveTags
        #expect(set.count == 5 && set.distance(from: set.startIndex, to: set.endIndex) == 5)
        #expect(set[set.index(set.startIndex, offsetBy: 4)] === set.suffix(1).first && Set(set.map { $0 }) == Set(tags))
    }

    @Test("adds to a relationship without an order what add(_:to:) adds, and is equal to plain collections")
    func equality() {
        let tags = tags(3)
        book.liveTags = [tags[0], tags[1]]
        #expect(book.liveTags == [tags[1], tags[0]] && book.liveTags == Set(tags.prefix(2)) && book.tags == book.liveTags)
        book.liveTags.formUnion(tags)
        book.liveTags.subtract([tags[0]])
        #expect(Set(book.liveTags) == Set(tags.dropFirst()) && tags[0].books.isEmpty)
        book.liveTags.removeAll { $0 === tags[1] }
        #expect(book.liveTags.first === tags[2] && book.liveTags.count == 1)
        book.liveTags.removeAll()
        #expect(book.liveTags.isEmpty && book.tags.isEmpty)
    }

    @Test("is a value: what was read, or copied in the midst of a change, stays as it is")
    func values() {
        let tags = tags(12)
        book.liveTags.formUnion(tags.prefix(10))
        var read = book.liveTags
        let again = read
        read.insert(tags[10])
        book.liveTags.insert(tags[11])
        #expect(read.count == 11 && again.count == 10 && book.tags.count == 11 && !book.tags.contains(tags[10]))
        func change(_ set: inout RelatedSet<Tag>) -> RelatedSet<Tag> {
            let copy = set
            set.remove(tags[0])
            return copy
        }
        let copy = change(&book.liveTags)
        #expect(copy.contains(tags[0]) && copy.count == 11 && book.tags.count == 10)
        func leave(_ set: inout RelatedSet<Tag>) -> RelatedSet<Tag> { set }
        let left = leave(&book.liveTags)
        book.liveTags.remove(tags[1])
        #expect(left.contains(tags[1]) && !book.tags.contains(tags[1]))
        for tag in book.liveTags { book.liveTags.remove(tag) }
        #expect(book.tags.isEmpty)
    }

    @Test("can be exchanged with that of another object")
    func exchange() {
        let other = Book(context: context)
        book.liveChapters = ["a", "b"].map(library.chapter).reduce(into: []) { $0.append($1) }
        other.liveChapters.append(library.chapter("c"))
        swap(&book.liveChapters, &other.liveChapters)
        #expect(headings == "c" && other.chapters.compactMap(\.heading) == ["a", "b"])
    }

    @Test("is a list as an array is: sorted, reversed, swapped, and an object may be in twice on the way")
    func algorithms() {
        book.liveChapters += ["c", "a", "d", "b"].map(library.chapter)
        book.liveChapters.sort { ($0.heading ?? "") < ($1.heading ?? "") }
        #expect(headings == "abcd")
        book.liveChapters.reverse()
        #expect(headings == "dcba")
        book.liveChapters.swapAt(0, 3)
        #expect(headings == "acbd" && book.liveChapters.firstIndex(of: book.chapters[2]) == 2)
        book.liveChapters.removeAll { $0.heading == "c" }
        #expect(headings == "abd" && book.liveChapters == book.chapters)
        book.liveChapters.removeLast()
        book.liveChapters.replaceSubrange(0..<1, with: ["x", "y"].map(library.chapter))
        #expect(headings == "xyb" && book.liveChapters.last?.heading == "b")
    }
}
