import CoreData
import Foundation
import Testing

@Suite("Identity and memory")
struct IdentityTests {
    let library: Library
    var context: NSManagedObjectContext { library.context }

    init() throws { library = try Library() }

    private func savedTags(_ count: Int) throws -> [NSManagedObjectID] {
        let writer = library.newContext()
        let tags = (0..<count).map { number in
            let tag = Tag(context: writer)
            tag.label = "\(number)"
            return tag
        }
        try writer.save()
        return tags.map(\.objectID)
    }

    @Test("one ID is one object in a context, however it is asked for")
    func uniquing() throws {
        let id = try savedTags(1)[0]
        #expect(context.registeredObject(for: id) == nil)
        let statements = library.statementsOf { #expect(context.object(with: id).isFault) }
        #expect(statements == [])
        let object = context.object(with: id)
        #expect(context.registeredObject(for: id) === object)
        #expect(try context.existingObject(with: id) === object)
        #expect(!object.isFault)
        #expect(try context.only(Tag.self, "Tag") === object)
        #expect(library.newContext().object(with: id) !== object)
    }

    @Test("an ID whose row is gone: existingObject throws 133000, a fault becomes a deleted object with empty values")
    func missingRow() throws {
        let ids = try savedTags(2)
        let ghost = try #require(context.object(with: ids[0]) as? Tag)
        _ = try library.sql("DELETE FROM ZTAG")
        let other = library.newContext()
        #expect(errorCode { _ = try other.existingObject(with: ids[1]) } == NSManagedObjectReferentialIntegrityError)
        #expect(ghost.label == nil)
        #expect(ghost.isDeleted && ghost.books.isEmpty)
        try context.save()
        #expect(ghost.managedObjectContext == nil)
    }

    @Test("an inaccessible fault traps where the context says so")
    func inaccessibleTrap() async {
        await #expect(processExitsWith: .failure) {
            let library = try Library()
            let tag = Tag(context: library.context)
            try library.context.save()
            let other = library.newContext()
            other.shouldDeleteInaccessibleFaults = false
            let ghost = other.object(with: tag.objectID)
            library.context.delete(tag)
            try library.context.save()
            _ = ghost.value(forKey: "label")
        }
    }

    @Test("objects are freed when they are dropped, changed ones are not, and all are kept where the context retains them")
    func weakRegistration() throws {
        let ids = try savedTags(3)
        weak let clean = context.object(with: ids[0])
        #expect(clean == nil)
        weak var read: NSManagedObject?
        weak var dirty: NSManagedObject?
        do {
            let (first, second) = (try context.existingObject(with: ids[0]), try context.existingObject(with: ids[1]))
            second.setValue("changed", forKey: "label")
            (read, dirty) = (first, second)
        }
        #expect(read == nil && dirty != nil)
        #expect(context.registeredObjects.count == 1)
        try context.save()
        #expect(dirty == nil)
        context.retainsRegisteredObjects = true
        weak let kept = context.object(with: ids[2])
        #expect(kept != nil)
        context.retainsRegisteredObjects = false
        #expect(kept == nil)
    }

    @Test("inserted objects are freed after a rollback")
    func freedAfterRollback() throws {
        weak var tag: Tag?
        do {
            let new = Tag(context: context)
            context.processPendingChanges()
            tag = new
        }
        #expect(tag != nil)
        context.rollback()
        #expect(tag == nil)
    }

    @Test("an object outlives its context: it is in none, keeps its values, and can be released")
    func outliving() throws {
        let ids = try savedTags(2)
        var other: NSManagedObjectContext? = library.newContext()
        weak let gone = other
        let (read, unread) = (try #require(other?.existingObject(with: ids[0]) as? Tag), try #require(other?.object(with: ids[1]) as? Tag))
        let new = Tag(context: try #require(other))
        other = nil
        #expect(gone == nil)
        #expect(read.managedObjectContext == nil && read.label == "0")
        #expect(unread.label == nil)
        new.label = "still usable"
        #expect(new.label == "still usable")
    }

    @Test("an error about an object can be printed when context, coordinator and model are gone")
    func errorOutlives() throws {
        var error: (any Error)?
        do {
            let context = try Library().newContext()
            // No title.
            _ = Book(context: context)
            error = #expect(throws: CocoaError.self) { try context.save() }
        }
        #expect("\(try #require(error) as NSError)".contains("Book"))
    }

    @Test("the end of a context frees objects that hold each other")
    func cyclesEnd() throws {
        weak var book: Book?
        do {
            let other = library.newContext()
            let (first, tag) = (Book(context: other), Tag(context: other))
            first.title = "T"
            first.tags = [tag]
            try other.save()
            book = first
        }
        #expect(book == nil)
    }

    @Test("objects that leave a context, in whichever way, keep nobody alive", arguments: Leaving.allCases)
    func leaving(how: Leaving) throws {
        weak var tag: Tag?
        weak var book: Book?
        weak var friend: Tag?
        try leave(how, &tag, &book, &friend)
        #expect(tag == nil && book == nil && friend == nil)
    }

    enum Leaving: CaseIterable {
        case rollback, unsavedDelete, savedDelete, mergedDelete, parentsRollback, reset
    }

    private func leave(_ how: Leaving, _ tag: inout Tag?, _ book: inout Book?, _ friend: inout Tag?) throws {
        let source = how == .parentsRollback ? Layers.child(of: context, "child") : context
        let made = (Tag(context: source), Book(context: source), Tag(context: source))
        made.1.title = "T"
        made.1.tags = [made.0, made.2]
        let all = [made.0, made.1, made.2]
        switch how {
        case .rollback: context.rollback()
        case .unsavedDelete:
            all.forEach(context.delete)
            context.processPendingChanges()
        case .savedDelete:
            try context.save()
            all.forEach(context.delete)
            try context.save()
        case .mergedDelete:
            try context.save()
            let other = library.newContext()
            all.forEach { other.delete(other.object(with: $0.objectID)) }
            try other.save()
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: all.map(\.objectID)], into: [context])
            try context.save()
        case .parentsRollback:
            try source.save()
            let above = all.map { context.object(with: $0.objectID) }
            #expect((above[1] as? Book)?.tags.count == 2)
            (tag, book, friend) = (above[0] as? Tag, above[1] as? Book, above[2] as? Tag)
            context.rollback()
            return
        case .reset: context.reset()
        }
        (tag, book, friend) = made
    }

    @Test("objects may be released on eight threads while the context fetches them again")
    func releasedElsewhere() throws {
        _ = try savedTags(2000)
        let lists = (0..<8).map { _ in ReleaseList() }
        let done = DispatchGroup()
        for list in lists { DispatchQueue.global().async(group: done) { list.releaseUntilClosed() } }
        for round in 0..<40 {
            let tags = try context.all(Tag.self, "Tag")
            try #require(tags.count == 2000)
            if round % 3 == 0 { for tag in tags { _ = tag.label } }
            for (index, tag) in tags.enumerated() { lists[index % 8].put(tag) }
        }
        for list in lists { list.close() }
        done.wait()
        #expect(context.registeredObjects.isEmpty)
        #expect(try context.all(Tag.self, "Tag").allSatisfy { $0.label != nil })
    }
}

/// Objects on their way to the thread that drops the last reference to them.
// The lock guards everything.
private final class ReleaseList: @unchecked Sendable {
    private let lock = NSLock()
    private var objects: [NSManagedObject] = []
    private var isClosed = false

    func put(_ object: NSManagedObject) { lock.withLock { objects.append(object) } }
    func close() { lock.withLock { isClosed = true } }

    func releaseUntilClosed() {
        while true {
            let (batch, ended) = lock.withLock {
                defer { objects = [] }
                return (objects, isClosed)
            }
            withExtendedLifetime(batch) {}
            if ended && batch.isEmpty { return }
        }
    }
}
