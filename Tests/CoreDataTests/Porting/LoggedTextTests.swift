import Foundation
import Testing

@testable import CoreData

/// What programs write into their logs, and people read there.
@Suite("What a log shows")
struct LoggedTextTests {
    let library: Library
    let context: NSManagedObjectContext

    init() throws {
        library = try Library(.memory)
        context = library.context
    }

    @Test("of a request is what it asks for")
    func request() {
        let request = NSFetchRequest<Book>(entityName: "Book")
        #expect("\(request)".hasSuffix("(entity: Book; type: NSManagedObjectResultType)"), "\(request)")
        request.predicate = NSPredicate(format: "title BEGINSWITH 'E'")
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
        (request.fetchLimit, request.resultType) = (3, .dictionaryResultType)
        let parts = [
            "entity: Book", "predicate: (title BEGINSWITH \"E\")", "sortDescriptors: ((pages, descending))", "limit: 3",
            "type: NSDictionaryResultType",
        ]
        #expect("\(request)".hasSuffix(" (\(parts.joined(separator: "; ")))"), "\(request)")
    }

    // * Two contexts change the title of a book.
    // => The conflict has the book, its versions, and both titles.
    @Test("of a conflict is the object, versions and values")
    func conflict() throws {
        let rivals = try Rivals(.init(kind: .memory, isOneCoordinator: true))
        (rivals.theirBook.title, rivals.myBook.title) = ("theirs", "mine")
        try rivals.theirs.save()
        let error = cocoaError(133020) { try rivals.mine.save() }
        let text = "\(try #require((error?.userInfo["conflictList"] as? [NSMergeConflict])?.first))"
        #expect(text.hasPrefix("NSMergeConflict for \(rivals.myBook.objectID) with oldVersion = 1 and newVersion = 2 and old"), "\(text)")
        #expect(text.contains("title: title") && text.contains("and new cached row = {") && text.contains("title: theirs"), "\(text)")
    }

    // * Two new owners have one name, which is to be unique.
    @Test("of a conflict about unique values has the values")
    func constraint() throws {
        let context = try UniqueStore(.memory).context
        for _ in 0..<2 { _ = context.make("Owner", ["name": "Ada"]) }
        let error = cocoaError(133021) { try context.save() }
        let conflict = try #require((error?.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
        #expect("\(conflict)" == "NSConstraintConflict: Of Owner, 2 have the values {name: Ada}.")
    }

    // * Names with a letter too few or too many, in everything that has names.
    // => The error asks for the right one.
    @Test("of a misspelt name asks for the one that is near")
    func hints() throws {
        func reason(_ body: () throws -> Void) -> String {
            do { try body() } catch { return error.localizedDescription }
            return ""
        }
        let update = NSBatchUpdateRequest(entityName: "Book")
        update.propertiesToUpdate = ["titel": "x"]
        #expect(reason { try context.execute(update) }.hasSuffix("Is “title” meant?"))
        let columns = NSFetchRequest<NSDictionary>(entityName: "Book")
        (columns.resultType, columns.propertiesToFetch) = (.dictionaryResultType, ["titel"])
        #expect(reason { _ = try context.fetch(columns) }.hasSuffix("Is “title” meant?"))
        let prefetching = NSFetchRequest<Book>(entityName: "Book")
        prefetching.relationshipKeyPathsForPrefetching = ["auther"]
        #expect(reason { _ = try context.fetch(prefetching) }.hasSuffix("Is “author” meant?"))
        let name = "Model\(UUID().uuidString)"
        NSManagedObjectModel.register(name) { NSManagedObjectModel() }
        #expect(reason { _ = try NSManagedObjectModel(named: String(name.dropLast())) }.contains("Is “\(name)” meant?"))
    }

    @Test("of a predicate that cannot be evaluated is the reason and the name that is near")
    func evaluation() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library(.memory)
            _ = NSPredicate(format: "titel == 'x'").evaluate(with: Book(context: library.context))
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("cannot be evaluated: Entity Book has no property “titel”"), "\(text)")
        #expect(text.contains("Is “title” meant? (predicate.tree.evaluate(_:) throws"), "\(text)")
    }
}
