import Foundation
import Testing

@testable import CoreData

@Suite("Much news of a history")
struct HistoryPartsTests {
    private func insert(_ count: Int, _ context: NSManagedObjectContext) throws {
        try context.batchInsert("Tag", (0..<count).map { ["label": "\($0)"] }, type: .statusOnly)
    }

    @Test("comes in parts of whole transactions, which are all of it", arguments: StoreKind.allCases)
    func parts(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let follower = HistoryFollower(name: "me", coordinator: library.coordinator)
        try follower.beginNow()
        for count in [6000, 6000, 25_000, 10, 20] { try insert(count, library.context) }
        var (place, parts, sizes) = (try follower.token, [[Int64]](), [Int]())
        while true {
            let news = try follower.nextNews(after: place)
            parts.append(news.transactions.map(\.transactionNumber))
            sizes.append(news.parts(of: 10_000).count)
            place = news.token
            if !news.hasMore { break }
        }
        #expect(parts == [[1], [2], [3], [4, 5]] && sizes == [1, 1, 3, 1])
        #expect(try follower.news().transactions.map(\.transactionNumber) == [1, 2, 3, 4, 5])
        #expect(try follower.nextNews(after: place).transactions.isEmpty)
    }

    @Test("is merged in parts, in order", arguments: StoreKind.allCases)
    func merged(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let tag = Tag(context: library.context)
        tag.label = "old"
        try library.context.save()
        let follower = HistoryFollower(name: "me", coordinator: library.coordinator)
        try follower.beginNow()
        let other = try library.separateTrackedContext()
        try other.batchUpdate("Tag", ["label": "new"])
        try insert(12_000, other)
        try other.batchDelete("Tag", "label == '7'")
        try insert(1, other)
        #expect(try follower.merge(into: [library.context]) == 4)
        #expect(tag.label == "new")
        #expect(try library.context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 12_001)
        #expect(try follower.merge(into: [library.context]) == 0)
    }

    /// Each change by itself, as the cut of a large one may fall anywhere.
    @Test("brings members to their new owner before the old one goes, with whom they would be deleted", arguments: StoreKind.allCases)
    func movedMembers(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let (old, new) = (Author(context: library.context), Author(context: library.context))
        let books = try library.save(["A": 1, "B": 2, "C": 3])
        for book in books { book.author = old }
        try library.context.save()
        #expect(old.mutableSetValue(forKey: "books").allObjects.count == 3)
        let follower = HistoryFollower(name: "me", coordinator: library.coordinator)
        try follower.beginNow()
        let other = try library.separateTrackedContext()
        for book in try other.all(Book.self) { book.author = try other.existingObject(with: new.objectID) as? Author }
        other.delete(try other.existingObject(with: old.objectID))
        try other.save()
        for part in try follower.news().parts(of: 1) {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: part.changes, into: [library.context])
        }
        #expect(books.allSatisfy { !$0.isDeleted && $0.author === new } && old.isDeleted)
        try library.context.save()
        #expect(try library.sql("SELECT count(*) FROM ZBOOK") == "3")
    }

    @Test("makes no object ID that is not asked for, and no change twice")
    func ofOneTransaction() throws {
        let library = try trackedLibrary(.memory)
        let follower = HistoryFollower(name: "me", coordinator: library.coordinator)
        try follower.beginNow()
        try insert(2500, library.context)
        let parts = try follower.news().parts(of: 1000)
        let ids = parts.map { $0.changes[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? [] }
        #expect(ids.map(\.count) == [1000, 1000, 500])
        #expect(ids.reduce(into: Set()) { $0.formUnion($1) }.count == 2500)
    }
}
