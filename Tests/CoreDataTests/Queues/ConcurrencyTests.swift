import Foundation
import Testing

@testable import CoreData

@Suite("Contexts on several threads")
struct ConcurrencyTests {
    /// In memory SQLite is not to wait, so that an error comes out where our own lock does not hold.
    private func options(_ kind: StoreKind) -> [AnyHashable: Any]? { kind == .memory ? [NSPersistentStoreTimeoutOption: 0] : nil }

    @Test("insert, fetch and save on one coordinator without losing anything", arguments: StoreKind.allCases)
    func oneCoordinator(kind: StoreKind) throws {
        let library = try Library(kind, options: options(kind))
        try run(library) { library.newContext() }
    }

    @Test("insert, fetch and save on a coordinator each without losing anything", arguments: StoreKind.allCases)
    func severalCoordinators(kind: StoreKind) throws {
        let library = try Library(kind, options: options(kind))
        try run(library, rounds: 40) { try Library.context(on: library.separateCoordinator(options: options(kind))) }
    }

    @Test("insert, fetch and save on two coordinators, four threads on each, without losing anything", arguments: StoreKind.allCases)
    func twoCoordinators(kind: StoreKind) throws {
        let library = try Library(kind, options: options(kind))
        let coordinators = [library.coordinator, try library.separateCoordinator(options: options(kind))]
        var next = 0
        try run(library, rounds: 100) {
            next += 1
            return Library.context(on: coordinators[next % 2])
        }
    }

    @Test(
        "read rows, relationships and counts while others edit, link, delete, and add and remove the store",
        arguments: StoreKind.allCases
    )
    func mixed(kind: StoreKind) throws {
        let library = try Library(kind, options: options(kind))
        let url = library.url
        let coordinators = [library.coordinator, try library.separateCoordinator(options: options(kind))]
        let failures = Lock<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            let context = Library.context(on: coordinators[thread % 2])
            do {
                for round in 0..<40 { try context.performAndWait { try mix(url, context, thread, round) } }
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        failures.withLock { #expect($0.isEmpty, "\($0.first.map { "\($0)" } ?? "")") }
        // => Of ten books of each thread every second is left, with its chapters.
        #expect(try library.sql("SELECT COUNT(*), SUM(ZPAGES) FROM ZBOOK") == "40|40")
        #expect(try library.sql("SELECT COUNT(*), COUNT(ZBOOK) FROM ZCHAPTER") == "80|80")
    }

    private func mix(_ url: URL, _ context: NSManagedObjectContext, _ thread: Int, _ round: Int) throws {
        let mine = NSFetchRequest<Book>(entityName: "Book")
        mine.predicate = NSPredicate(format: "title == %@", "\(thread).\(round / 4)")
        switch round % 4 {
        case 0:
            let book = Book(context: context)
            book.title = "\(thread).\(round / 4)"
            book.chapters = [Chapter(context: context), Chapter(context: context)]
        case 1: try context.fetch(mine).first?.pages = 1
        case 2:
            context.refreshAllObjects()
            for book in try context.all(Book.self, "Book") where book.title?.hasPrefix("\(thread).") == true {
                #expect(book.chapters.count == 2)
            }
            #expect(try context.count(for: mine) == 1)
            if thread == 0 { try visit(url, mine) }
        default: if round / 4 % 2 == 0 { try context.fetch(mine).forEach(context.delete) }
        }
        try context.save()
    }

    private func visit(_ url: URL, _ request: NSFetchRequest<Book>) throws {
        let stack = try Stack(url, options: options(StoreKind(of: url)))
        #expect(try stack.newContext().count(for: request) == 1)
        try stack.close()
    }

    private func run(_ library: Library, rounds: Int = 200, _ makeContext: () throws -> NSManagedObjectContext) throws {
        let contexts = try (0..<8).map { _ in try makeContext() }
        let failures = Lock<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: contexts.count) { thread in
            for round in 0..<rounds {
                do {
                    try contexts[thread].performAndWait { try work(contexts[thread], thread, round) }
                } catch {
                    failures.withLock { $0.append(error) }
                }
            }
        }
        failures.withLock { #expect($0.isEmpty, "\($0.first.map { "\($0)" } ?? "")") }
        #expect(try library.sql("SELECT COUNT(*), COUNT(DISTINCT ZLABEL) FROM ZTAG") == "\(8 * rounds)|\(8 * rounds)")
        #expect(
            try library.sql("SELECT MAX(Z_PK) = COUNT(*), MAX(Z_PK) = (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag') FROM ZTAG")
                == "1|1"
        )
        #expect(try library.newContext().all(Tag.self, "Tag").count == 8 * rounds)
    }

    /// Inserts an object and reads what this thread has inserted so far.
    private func work(_ context: NSManagedObjectContext, _ thread: Int, _ round: Int) throws {
        let tag = Tag(context: context)
        tag.label = "\(thread).\(round)"
        try context.save()
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label BEGINSWITH %@", "\(thread).")
        let found = try context.fetch(request)
        #expect(found.count == round + 1)
        #expect(found.allSatisfy { $0.label?.hasPrefix("\(thread).") == true })
        request.predicate = nil
        request.fetchLimit = 20
        for tag in try context.fetch(request) { #expect(tag.label != nil) }
    }

    static let resolving = NSMergePolicyType.all.filter { $0 != .errorMergePolicyType }

    @Test(
        "save the one object that all of them change, under a policy that resolves, without an error",
        arguments: StoreKind.allCases,
        resolving
    )
    func contention(kind: StoreKind, policy: NSMergePolicyType) throws {
        let library = try Library(kind, options: options(kind))
        _ = try library.savedBook()
        let (coordinator, failures) = (library.coordinator, Lock<[any Error]>([]))
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<30 {
                let context = Library.context(on: coordinator)
                context.mergePolicy = NSMergePolicy(merge: policy)
                context.performAndWait {
                    do {
                        let book = try context.all(Book.self, "Book")[0]
                        if thread % 2 == 0 { book.pages = Int32(round) } else { book.price = Double(round) }
                        let chapter = Chapter(context: context)
                        (chapter.heading, chapter.book) = ("\(thread).\(round)", book)
                        try context.save()
                    } catch {
                        failures.withLock { $0.append(error) }
                    }
                }
            }
        }
        failures.withLock { #expect($0.isEmpty, "\($0.count): \($0.first.map { "\($0)" } ?? "")") }
        #expect(try library.sql("SELECT COUNT(*) = COUNT(DISTINCT ZHEADING) FROM ZCHAPTER") == "1")
        if policy != .rollbackMergePolicyType { #expect(try library.sql("SELECT COUNT(*) FROM ZCHAPTER WHERE ZBOOK = 1") == "240") }
    }

    /// Commits what a context has changed; what became of it is told the row cache later.
    private func commit(_ context: NSManagedObjectContext, _ library: Library) throws -> SaveReceipt {
        try library.coordinator.save(ChangeFreezer(context.tracker, locked: [], isForStores: true).changes) {}
    }

    // * One save is committed; before the row cache knows of it, another edits or deletes the row.
    @Test(
        "leave the row cache with the row of the last save, in whatever order they come to it",
        arguments: StoreKind.allCases,
        [true, false]
    )
    func publication(kind: StoreKind, deletes: Bool) throws {
        let library = try Library(kind)
        let book = try library.savedBook()
        book.title = "first"
        let receipt = try commit(library.context, library)
        let other = library.newContext()
        let same = try #require(try other.all(Book.self, "Book").first)
        #expect(same.title == "first")
        if deletes { other.delete(same) } else { same.title = "second" }
        try other.save()
        receipt.publish()
        let reader = library.newContext()
        if deletes {
            cocoaError(133000) { try reader.existingObject(with: book.objectID) }
        } else {
            #expect((try reader.existingObject(with: book.objectID) as? Book)?.title == "second")
        }
        withExtendedLifetime((same, receipt)) {}
    }
}
