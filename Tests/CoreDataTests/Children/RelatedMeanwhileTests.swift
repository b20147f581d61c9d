import Foundation
import Testing

@testable import CoreData

@Suite("Whom one child has related to what another deletes")
struct RelatedMeanwhileTests {
    private let layers: Layers
    /// In main, used; a boss and somebody who has none yet.
    private let boss: Person
    private let report: Person
    private let deleter: NSManagedObjectContext

    /// The child that deletes decides before the other relates the two, which saves to the file.
    init() throws {
        layers = try Layers()
        (boss, report) = (Person(context: layers.main), Person(context: layers.main))
        (boss.name, report.name) = ("boss", "report")
        try layers.saveAll()
        deleter = layers.newWorker()
        let doomed = try #require(deleter.object(with: boss.objectID) as? Person)
        deleter.delete(doomed)
        deleter.processPendingChanges()
        let (first, second) = (layers.worker.object(with: boss.objectID), layers.worker.object(with: report.objectID))
        second.setValue(first, forKey: "boss")
        try layers.saveAll()
        #expect(report.boss === boss)
    }

    @Test("leads nowhere in the context between, which has read it, before and after the save")
    func nullified() throws {
        try deleter.save()
        #expect(report.boss == nil)
        try layers.main.save()
        try layers.root.save()
        #expect(report.boss == nil && !report.hasChanges)
        #expect(try layers.library.sql("SELECT ZNAME, ZBOSS FROM ZPERSON") == "report|")
    }

    @Test("leads there again where the context between gives the delete up")
    func givenUp() throws {
        try deleter.save()
        layers.main.rollback()
        #expect(report.boss === boss && !layers.main.hasChanges)
        #expect(boss.reports == [report])
    }

    @Test("goes with it where the delete cascades")
    func cascaded() throws {
        let book = layers.book("B", in: layers.main)
        let chapter = Chapter(context: layers.main)
        (chapter.heading, chapter.book) = ("C", layers.book("A", in: layers.main))
        try layers.saveAll()
        deleter.reset()
        deleter.delete(deleter.object(with: book.objectID))
        deleter.processPendingChanges()
        layers.worker.object(with: chapter.objectID).setValue(layers.worker.object(with: book.objectID), forKey: "book")
        try layers.saveAll()
        #expect(chapter.book === book)
        try deleter.save()
        #expect(chapter.isDeleted)
        try layers.main.save()
        try layers.root.save()
        #expect(try layers.library.sql("SELECT COUNT(*) FROM ZCHAPTER") == "0")
    }
}
