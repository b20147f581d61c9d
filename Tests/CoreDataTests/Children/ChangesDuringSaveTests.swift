import CoreData
import Foundation
import Testing

@Suite("What changes in a child while the parent tells of its save")
struct ChangesDuringSaveTests {
    let layers: Layers
    let books: [Book]
    var child: NSManagedObjectContext { layers.main }

    init() throws {
        layers = try Layers()
        let made = ["a", "b", "c"].map { [layers] in layers.book($0, in: layers.root) }
        try layers.root.save()
        books = made.compactMap { [layers] in layers.main.object(with: $0.objectID) as? Book }
        books[0].title = "saved"
    }

    /// Saves the child, with an observer of the parent that acts once.
    private func saveObserved(_ act: () -> Void) throws {
        try withoutActuallyEscaping(act) { act in
            var isFirst = true
            let events = Notifications(.NSManagedObjectContextObjectsDidChange, from: layers.root) { _ in
                if isFirst {
                    isFirst = false
                    act()
                }
            }
            try child.save()
            #expect(!isFirst)
            withExtendedLifetime(events) {}
        }
    }

    @Test("is saved by its next save: values of saved, new and other objects, and relationships")
    func edits() throws {
        let new = layers.book("new", in: child)
        try saveObserved {
            (books[0].pages, books[1].pages, new.pages) = (1, 2, 3)
            let tag = Tag(context: child)
            tag.books = [books[0], new]
        }
        #expect(child.hasChanges && child.updatedObjects == [books[0], books[1], new] && child.insertedObjects.count == 1)
        try child.save()
        try layers.root.save()
        #expect(try layers.library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK ORDER BY 1") == "b|2\nc|\nnew|3\nsaved|1")
        #expect(try layers.library.sql("SELECT COUNT(*) FROM Z_1TAGS") == "2")
    }

    @Test("is saved by its next save: deletes, of what was just saved too")
    func deletes() throws {
        let new = layers.book("new", in: child)
        try saveObserved {
            for book in [books[0], books[1], new] { child.delete(book) }
        }
        #expect(child.deletedObjects == [books[0], books[1], new])
        try child.save()
        try layers.root.save()
        #expect(try layers.library.sql("SELECT ZTITLE FROM ZBOOK") == "c")
    }

    @Test("can be saved by the observer itself")
    func save() throws {
        try saveObserved {
            books[1].title = "in the observer"
            #expect(throws: Never.self) { try child.save() }
        }
        try layers.root.save()
        #expect(try layers.library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY 1") == "c\nin the observer\nsaved")
    }
}
