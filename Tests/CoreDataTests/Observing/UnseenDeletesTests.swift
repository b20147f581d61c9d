import Foundation
import Testing

@testable import CoreData

@Suite("Lists that read across relationships, once others have deleted what is read")
struct UnseenDeletesTests {
    private let library: Library
    private let context: NSManagedObjectContext
    private let request = NSFetchRequest<Book>(entityName: "Book")
    private let mirror = CallMirror()

    init() throws {
        library = try Library(.memory) {
            $0.entitiesByName["Author"]?.relationshipsByName["books"]?.deleteRule = .nullifyDeleteRule
        }
        let maker = library.newContext()
        let tag = Tag(context: maker)
        tag.label = "tag"
        for (name, titles) in ["a": ["1", "2"], "m": ["3", "4"], "z": ["5"]] {
            let author = Author(context: maker)
            author.name = name
            for title in titles {
                let book = Book(context: maker)
                (book.title, book.author) = (title, author)
                if title > "2" { book.tags = [tag] }
            }
        }
        try maker.save()
        context = library.newContext()
    }

    private func follow(_ sections: String? = nil, by keys: String...) throws -> NSFetchedResultsController<Book> {
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        let controller = try NSFetchedResultsController.fetched(request, in: context, sections: sections, delegate: mirror)
        mirror.start(controller)
        return controller
    }

    /// Merges what Apple's result says, which does not name those that the deleted were related to.
    private func deleteElsewhere(_ entity: String, _ format: String) throws {
        let result = try library.newContext().batchDelete(entity, format, type: .resultTypeObjectIDs)
        let ids = try #require(result.result as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
    }

    private func expectAgreement(_ list: NSFetchedResultsController<Book>) throws {
        let fresh = try library.newContext().fetch(request).map(\.title)
        #expect(list.fetchedObjects?.map(\.title) == fresh && mirror.text == list.titles, "\(mirror.calls)")
    }

    // * Sections of authors: one of them is deleted in the store, whom the context has read, but not who is related to him; or whom it has not read.
    // => His books are in the section of those without author.
    @Test("follow deletes of related objects", arguments: [false, true])
    func targets(isRead: Bool) throws {
        let list = try follow(isRead ? "author.name" : nil, by: "author.name", "title")
        try deleteElsewhere("Author", "name == 'm'")
        try expectAgreement(list)
        #expect(list.fetchedObjects?.map(\.title) == ["3", "4", "1", "2", "5"])
        #expect(list.fetchedObjects?.first?.author == nil)
    }

    @Test("get what belongs to them since a related object is gone, read before or not", arguments: [false, true])
    func newcomers(isRead: Bool) throws {
        request.predicate = NSPredicate(format: "author == nil OR author.name == 'a'")
        let read = try isRead ? context.all(Book.self, sortedBy: "title") : []
        let list = try follow(by: "title")
        try deleteElsewhere("Author", "name == 'm'")
        try expectAgreement(list)
        #expect(list.fetchedObjects?.map(\.title) == ["1", "2", "3", "4"] && read.count == (isRead ? 5 : 0))
        #expect(!mirror.calls.contains { $0.hasPrefix("update") })
    }

    @Test("follow deletes of members of a many-to-many relationship, and tell of nothing else", arguments: [false, true])
    func members(isRead: Bool) throws {
        request.predicate = NSPredicate(format: "tags.@count > 0 OR title == '1'")
        let list = try follow(by: "title")
        if isRead { for book in list.fetchedObjects ?? [] { _ = book.tags } }
        try deleteElsewhere("Tag", "label == 'tag'")
        try expectAgreement(list)
        #expect(list.fetchedObjects?.map(\.title) == ["1"] && !mirror.calls.contains { $0.hasPrefix("update 1") })
    }
}
