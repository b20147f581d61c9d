import CoreData
import Foundation
import Testing

@Suite("What a worker saves while its parent saves, of an object that a context above drops meanwhile")
struct DroppedDuringSaveTests {
    let layers: Layers
    let book: Book

    init() throws {
        layers = try Layers()
        book = layers.book("dropped", in: layers.main)
        try layers.main.save()
    }

    /// Main saves something else; during that the worker saves a change of the book, and root drops the book.
    private func saveMeanwhile() throws {
        _ = layers.book("kept", in: layers.main)
        let inWorker = try #require(layers.worker.object(with: book.objectID) as? Book)
        var isFirst = true
        let events = Notifications(.NSManagedObjectContextWillSave, from: layers.main) { [layers] _ in
            guard isFirst else { return }
            isFirst = false
            inWorker.pages = 7
            #expect(throws: Never.self) { try layers.worker.save() }
            layers.root.rollback()
        }
        try layers.main.save()
        #expect(!isFirst && layers.main.hasChanges)
        withExtendedLifetime(events) {}
    }

    @Test("is a conflict of the parent's next save, which a rollback ends")
    func rollback() throws {
        try saveMeanwhile()
        cocoaError(133020) { try layers.main.save() }
        layers.main.rollback()
        #expect(!layers.main.hasChanges)
        try layers.saveAll()
        #expect(try layers.library.sql("SELECT ZTITLE FROM ZBOOK") == "kept")
    }

    @Test("goes, or comes back, as the parent's merge policy says", arguments: [true, false])
    func policy(objectWins: Bool) throws {
        try saveMeanwhile()
        layers.main.mergePolicy = objectWins ? NSMergePolicy.mergeByPropertyObjectTrump : NSMergePolicy.mergeByPropertyStoreTrump
        try layers.main.save()
        #expect(!layers.main.hasChanges)
        try layers.root.save()
        let rows = try layers.library.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK ORDER BY 1")
        #expect(rows == (objectWins ? "dropped|7\nkept|" : "kept|"))
    }
}
