import Foundation
import ModelFormat
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A history request")
struct HistoryReadingTests {
    private func filled(_ kind: StoreKind) throws -> Library {
        let library = try trackedLibrary(kind)
        for (author, label) in [("a", "1"), ("b", "2"), (nil, "3"), ("a", "4")] {
            library.context.transactionAuthor = author
            Tag(context: library.context).label = label
            if label == "4" { Book(context: library.context).title = "T" }
            try library.context.save()
        }
        return library
    }

    @Test("begins behind a token, a transaction or a date", arguments: StoreKind.allCases)
    func starts(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        let all = try context.history()
        #expect(all.map(\.transactionNumber) == [1, 2, 3, 4])
        #expect(try context.history(after: all[1].token).map(\.transactionNumber) == [3, 4])
        #expect(try context.transactions(.fetchHistory(after: all[2])).map(\.transactionNumber) == [4])
        #expect(try context.transactions(.fetchHistory(after: nil as NSPersistentHistoryTransaction?)).count == 4)
        #expect(try context.transactions(.fetchHistory(after: Date.distantPast)).count == 4)
        #expect(try context.transactions(.fetchHistory(after: all[3].timestamp)).isEmpty)
        #expect(try context.history(after: library.coordinator.currentPersistentHistoryToken(fromStores: nil)).isEmpty)
        #expect(library.coordinator.currentPersistentHistoryToken(fromStores: [library.store]) == all[3].token)
    }

    @Test("is refused where its date is not a number, and then deletes nothing", arguments: StoreKind.allCases)
    func notANumber(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        let date = Date(timeIntervalSinceReferenceDate: .nan)
        cocoaError(134060) { try context.run(.deleteHistory(before: date)) }
        cocoaError(134060) { try context.run(.fetchHistory(after: date)) }
        #expect(try context.history().count == 4)
    }

    @Test("takes an offset or a limit below zero for none", arguments: StoreKind.allCases)
    func negativeOffset(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        (fetch.fetchOffset, fetch.fetchLimit) = (-1, -5)
        #expect(try context.transactions(.fetchHistory(withFetch: fetch)).map(\.transactionNumber) == [1, 2, 3, 4])
    }

    @Test("gives what its result type says", arguments: StoreKind.allCases)
    func types(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
            try context.run(.fetchHistory(after: nil as NSPersistentHistoryToken?), type)
        }
        #expect(try result(.statusOnly) as? Bool == true)
        #expect(try result(.count) as? Int == 4)
        #expect((try result(.objectIDs) as? [NSManagedObjectID])?.count == 5)
        let transactions = try #require(try result(.transactionsOnly) as? [NSPersistentHistoryTransaction])
        #expect(transactions.count == 4 && transactions.allSatisfy { $0.changes == nil })
        let changes = try #require(try result(.changesOnly) as? [NSPersistentHistoryChange])
        #expect(changes.map(\.changeID) == [1, 2, 3, 4, 5])
        #expect(changes.map { $0.transaction?.transactionNumber } == [1, 2, 3, 4, 4])
        let both = try #require(try result(.transactionsAndChanges) as? [NSPersistentHistoryTransaction])
        #expect(both.map { $0.changes?.count } == [1, 1, 1, 2])
    }

    @Test("finds transactions by predicate, what SQL cannot say too", arguments: StoreKind.allCases)
    func transactionPredicates(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        let second = try context.history()[1]
        func found(_ format: String, _ arguments: Any...) throws -> [Int64] {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            return try context.transactions(.fetchHistory(withFetch: fetch)).map(\.transactionNumber)
        }
        #expect(try found("author == %@", "a") == [1, 4])
        #expect(try found("author != %@", "a") == [2, 3])
        #expect(try found("author == nil") == [3])
        #expect(try found("NOT author IN %@", ["a", "b"]) == [3])
        #expect(try found("token > %@", second.token) == [3, 4])
        #expect(try found("%@ < token AND author == 'a'", second.token) == [4])
        #expect(try found("transactionNumber BETWEEN {2, 3}") == [2, 3])
        #expect(try found("author BEGINSWITH[c] 'A' AND token > %@", second.token) == [4])
        #expect(try found("author BEGINSWITH[c] 'B' OR token > %@", second.token) == [2, 3, 4])
        #expect(try found("token BETWEEN %@", [second.token, second.token]) == [2])
        #expect(try found("timestamp >= %@", second.timestamp) == [2, 3, 4])
        #expect(try found("processID == %@ OR author == 'nobody'", ProcessInfo.processInfo.processName) == [1, 2, 3, 4])
        cocoaError(134060) { try found("nonsense CONTAINS 'a'") }
    }

    @Test("finds changes by predicate, and gives their transactions with just these", arguments: StoreKind.allCases)
    func changePredicates(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        let tags = try context.fetch(NSFetchRequest<Tag>(entityName: "Tag"))
        tags[0].label = "x"
        try context.save()
        func fetch(_ format: String, _ arguments: Any...) throws -> NSFetchRequest<any NSFetchRequestResult> {
            let fetch = NSFetchRequest<any NSFetchRequestResult>()
            fetch.entity = NSPersistentHistoryChange.entityDescription(with: context)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            return fetch
        }
        let ofBooks = try context.transactions(.fetchHistory(withFetch: fetch("changedEntity == %@", Book.entity(of: context))))
        #expect(ofBooks.map(\.transactionNumber) == [4])
        #expect(ofBooks[0].changes?.map(\.told) == ["insert Book/p1"])
        let updates = try context.run(
            .fetchHistory(withFetch: fetch("changeType == %d", NSPersistentHistoryChangeType.update.rawValue)),
            .changesOnly
        )
        #expect(
            (updates as? [NSPersistentHistoryChange])?.map(\.told) == [
                "update Tag/\(tags[0].objectID.uriRepresentation().lastPathComponent) label"
            ]
        )
        let ofTag = try context.run(.fetchHistory(withFetch: fetch("changedObjectID == %@", tags[0].objectID)), .changesOnly)
        #expect((ofTag as? [NSPersistentHistoryChange])?.count == 2)
        let byA = try context.run(.fetchHistory(withFetch: fetch("transaction.author == 'a' AND changeType == 0")), .changesOnly)
        #expect((byA as? [NSPersistentHistoryChange])?.count == 3)
        let labels = try context.run(.fetchHistory(withFetch: fetch("ANY updatedProperties == 'label'")), .count)
        #expect(labels as? Int == 1)
        let limited = try fetch("changeType == 0")
        (limited.fetchLimit, limited.fetchOffset) = (2, 1)
        limited.sortDescriptors = [NSSortDescriptor(key: "changeID", ascending: false)]
        #expect(
            (try context.run(.fetchHistory(withFetch: limited), .changesOnly) as? [NSPersistentHistoryChange])?.map(\.changeID) == [4, 3]
        )
        let after = NSPersistentHistoryChangeRequest.fetchHistory(after: ofBooks[0].token)
        after.fetchRequest = try fetch("changeType != 2")
        #expect(try context.transactions(after).map(\.transactionNumber) == [5])
    }

    @Test("finds the same transactions for each result type, by their changes too", arguments: StoreKind.allCases)
    func byChanges(kind: StoreKind) throws {
        let library = try filled(kind)
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        for (format, expected) in [("changes.@count > 1", [4]), ("ANY changes.changeType == 0", [1, 2, 3, 4])] as [(String, [Int64])] {
            fetch.predicate = NSPredicate(format: format)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
            #expect(try library.context.transactions(request).map(\.transactionNumber) == expected)
            let bare = try library.context.run(request, .transactionsOnly) as? [NSPersistentHistoryTransaction]
            #expect(bare?.map(\.transactionNumber) == expected && bare?.allSatisfy { $0.changes == nil } == true)
            #expect(try library.context.run(request, .count) as? Int == expected.count)
        }
    }

    @Test("limits changes where they are told one by one, as changes or as IDs", arguments: StoreKind.allCases)
    func limits(kind: StoreKind) throws {
        let library = try filled(kind)
        let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
        (fetch.fetchLimit, fetch.sortDescriptors) = (2, [NSSortDescriptor(key: "changeID", ascending: false)])
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        let changes = try #require(try library.context.run(request, .changesOnly) as? [NSPersistentHistoryChange])
        #expect(changes.map(\.changeID) == [5, 4])
        #expect(try library.context.run(request, .objectIDs) as? [NSManagedObjectID] == changes.map(\.changedObjectID))
        #expect(try library.context.transactions(request).count == 2)
    }

    @Test("says so where its order is by a key that there is not", arguments: StoreKind.allCases)
    func unknownOrder(kind: StoreKind) throws {
        let library = try filled(kind)
        for fetch in [NSPersistentHistoryChange.fetchRequest, NSPersistentHistoryTransaction.fetchRequest] {
            let fetch = try #require(fetch)
            fetch.sortDescriptors = [NSSortDescriptor(key: "nonsense", ascending: true)]
            let error = cocoaError(134060) { try library.context.run(.fetchHistory(withFetch: fetch), .changesOnly) }
            if fetch.entity === NSPersistentHistoryChange.entityDescription {
                #expect(error?.localizedDescription.contains("nonsense") == true)
            }
        }
    }

    @Test("is what a fetch of history needs: a context says so that is given one")
    func fetchedDirectly() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try trackedLibrary(.memory)
            _ = try library.context.fetch(try #require(NSPersistentHistoryTransaction.fetchRequest))
        }
        #expect(complaint(result).contains("fetchHistory(withFetch:)"))
    }

    @Test("for a fetch of another entity says so")
    func otherEntity() throws {
        let library = try trackedLibrary(.memory)
        cocoaError(134060) {
            try library.context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: NSFetchRequest(entityName: "Tag")))
        }
    }

    @Test("deletes what was before a token, a transaction or a date", arguments: StoreKind.allCases)
    func deleting(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        let all = try context.history()
        #expect(try context.run(.deleteHistory(before: all[1].token), .count) as? Int == 1)
        #expect(try context.history().map(\.transactionNumber) == [2, 3, 4])
        #expect(try context.run(.deleteHistory(before: all[2]), .statusOnly) as? Bool == true)
        #expect(try context.history().map(\.transactionNumber) == [3, 4])
        #expect(try context.run(.deleteHistory(before: .distantPast), .count) as? Int == 0)
        #expect(try context.run(.deleteHistory(before: .distantFuture), .count) as? Int == 2)
        #expect(try library.sql("SELECT count(*) FROM ACHANGE") == "0")
        #expect(try library.sql("SELECT count(*) FROM ATRANSACTIONSTRING") == "0")
        Tag(context: context).label = "5"
        try context.save()
        #expect(try context.history().map(\.transactionNumber) == [5])
        #expect(try context.history().first?.changes?.map(\.changeID) == [6])
    }

    // * A program wants to delete what one author has done, before a date.
    // => It is told that it cannot, and nothing is gone.
    @Test("is not deleted by more than a place: a fetch that is to say what goes is refused", arguments: StoreKind.allCases)
    func deletingByFetch(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        let request = NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture)
        request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        request.fetchRequest?.predicate = NSPredicate(format: "author == %@", "nobody")
        expectError(.coreData, "fetchRequest", "nothing was deleted") { _ = try context.run(request, .count) }
        #expect(try context.history().count == 4)
    }

    @Test("throws 134301 for a token behind which something was deleted, and one of another history", arguments: StoreKind.allCases)
    func expired(kind: StoreKind) throws {
        let library = try filled(kind)
        let context = library.context
        let all = try context.history()
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: all[2]))
        let error = cocoaError(134301) { try context.history(after: all[0].token) }
        #expect(error?.localizedDescription.contains("transaction 1") == true)
        #expect(try context.history(after: all[1].token).count == 2)
        #expect(try context.history(after: all[2].token).count == 1)
        cocoaError(134301) { try context.history(after: NSPersistentHistoryToken([library.store.identifier: 99])) }
        #expect(try context.history(after: NSPersistentHistoryToken(["another": 99])).count == 2)
    }

    @Test("of a store without history, or of none, says so", arguments: StoreKind.allCases)
    func without(kind: StoreKind) throws {
        let library = try Library(kind)
        let error = cocoaError(134091) { try library.context.history() }
        #expect(error?.localizedDescription.contains(NSPersistentHistoryTrackingKey) == true)
        #expect(library.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        cocoaError(134070) { try Stack().newContext().history() }
    }

    @Test("asks several stores: by time, and with tokens that know all of them", arguments: StoreKind.allCases)
    func severalStores(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let stack = Stack()
        let stores = try ["A.sqlite", "B.sqlite"].map { try stack.add(home.url($0), options: [NSPersistentHistoryTrackingKey: true]) }
        let context = stack.newContext()
        for index in 0..<6 {
            let tag = Tag(context: context)
            context.assign(tag, to: stores[index % 2])
            try context.save()
        }
        let all = try context.history()
        #expect(all.map(\.storeID) == (0..<6).map { stores[$0 % 2].identifier })
        for (index, transaction) in all.enumerated() { #expect(try context.history(after: transaction.token).count == 5 - index) }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        request.affectedStores = [stores[1]]
        #expect(try context.transactions(request).map(\.storeID) == [String](repeating: stores[1].identifier, count: 3))
        #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: nil) == all[5].token)
    }

    @Test("gives notifications that another context merges", arguments: StoreKind.allCases)
    func merging(kind: StoreKind) throws {
        let library = try trackedLibrary(kind)
        let book = try library.savedBook("old")
        let gone = try library.savedBook("gone")
        let other = try library.separateTrackedContext()
        let mine = try #require(try other.existingObject(with: book.objectID) as? Book)
        let lost = try #require(try other.existingObject(with: gone.objectID) as? Book)
        mine.pages = 12
        let token = other.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
        book.title = "new"
        library.context.delete(gone)
        let tag = Tag(context: library.context)
        try library.context.save()
        other.retainsRegisteredObjects = true
        for transaction in try other.history(after: token) { other.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
        #expect(mine.title == "new")
        #expect(mine.pages == 12)
        #expect(lost.isDeleted || lost.managedObjectContext == nil)
        #expect(other.registeredObject(for: tag.objectID) != nil)
        try other.save()
    }

    @Test("is carried out by any context of a tree")
    func children() throws {
        let library = try trackedLibrary(.memory)
        _ = try library.savedBook()
        let parent = library.newContext(.privateQueueConcurrencyType)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        #expect(try child.performAndWait { try child.told() } == [["insert Book/p1"]])
    }

    @Test("has tokens that can be kept: archived, as JSON")
    func tokens() throws {
        let token = NSPersistentHistoryToken(["A": 5, "B": .max])
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data) == token)
        let json = try JSONEncoder().encode(token)
        #expect(try JSONDecoder().decode(NSPersistentHistoryToken.self, from: json) == token)
        #expect(token.copy() as? NSPersistentHistoryToken == token)
        #expect(Set([token, NSPersistentHistoryToken(["A": 5, "B": .max])]).count == 1)
        #expect(token != NSPersistentHistoryToken(["A": 6, "B": .max]))
        #expect(throws: (any Error).self) { try JSONDecoder().decode(NSPersistentHistoryToken.self, from: Data("{}".utf8)) }
    }
}

extension NSManagedObject {
    static func entity(of context: NSManagedObjectContext) -> NSEntityDescription {
        context.persistentStoreCoordinator!.managedObjectModel.entities.first { $0.managedObjectClassName == NSStringFromClass(Self.self) }!
    }
}

@Suite("The history that Apple's Core Data wrote", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
struct FixtureHistoryTests {
    static let stores = ["samplemodel2/SampleModel2_V1.sqlite", "photos/Photos-13.5-empty.sqlite", "photos-small/MediaAnalysis.sqlite"]

    private func stack(_ store: String, _ folder: TemporaryFolder, _ options: [AnyHashable: Any]) throws -> Stack {
        let model = try Fixtures.withStore(store) { connection in
            let row = try connection.rows("SELECT Z_CONTENT FROM Z_MODELCACHE").first
            guard case .blob(let content)? = row?[0] else { throw CocoaError(.coreData) }
            return try NSManagedObjectModel(Model(archive: ArchivedModelReader.inflated(content)))
        }
        try Fixtures.copyStore(store, to: folder.store)
        return try Stack(folder.store, model, options: options.merging([NSIgnorePersistentStoreVersioningOption: true]) { $1 })
    }

    @Test("reads as its golden file says", arguments: stores)
    func golden(store: String) throws {
        let folder = try TemporaryFolder()
        let stack = try stack(store, folder, [NSPersistentHistoryTrackingKey: true, NSReadOnlyPersistentStoreOption: true])
        let json = try JSONSerialization.jsonObject(with: try Fixtures.data(store + ".golden.json")) as? [String: Any]
        let golden = try #require(json?["history"] as? [String: Any])
        let history = try stack.newContext().history()
        #expect(history.count == golden["transactions"] as? Int)
        #expect(history.reduce(0) { $0 + ($1.changes?.count ?? 0) } == golden["changes"] as? Int)
        for (transaction, expected) in zip(history, golden["firstTransactions"] as? [[String: Any]] ?? []) {
            #expect(transaction.transactionNumber == expected["number"] as? Int64)
            let time = try #require((expected["timestamp"] as? [String: Any])?["timeIntervalSinceReferenceDate"] as? Double)
            #expect(transaction.timestamp.timeIntervalSinceReferenceDate == time)
            #expect(transaction.author == expected["author"] as? String)
            #expect(transaction.contextName == expected["contextName"] as? String)
            #expect(transaction.bundleID == expected["bundleID"] as? String)
            #expect(transaction.processID == expected["processID"] as? String)
            for (change, expected) in zip(transaction.changes ?? [], expected["changes"] as? [[String: Any]] ?? []) {
                #expect("\(change.changeType)" == expected["type"] as? String)
                #expect(change.changedObjectID.uriRepresentation().absoluteString == expected["objectID"] as? String)
            }
        }
    }

    @Test("goes on: numbers, texts and columns are those of the tables that are there", arguments: stores)
    func continuing(store: String) throws {
        let folder = try TemporaryFolder()
        let stack = try stack(store, folder, [NSPersistentHistoryTrackingKey: true])
        let context = stack.newContext()
        let before = try context.history()
        let names = ["Feedback", "MigrationHistory", "Page"]
        let found = names.first { stack.coordinator.managedObjectModel.entitiesByName[$0] != nil }
        guard let found else { return #expect(before.isEmpty) }
        let request = NSFetchRequest<NSManagedObject>(entityName: found)
        request.fetchLimit = 1
        let object = try #require(try context.fetch(request).first)
        context.delete(object)
        try context.save()
        let last = try #require(try context.history().last)
        #expect(last.transactionNumber == (before.last?.transactionNumber ?? 0) + 1)
        #expect(last.changes?.contains { $0.changeType == .delete && $0.changedObjectID == object.objectID } == true)
        let known = before.last?.changes?.last?.changeID ?? 0
        #expect(last.changes?.allSatisfy { $0.changeID > known } == true)
        try stack.close()
        #expect(try Child.sqlite(folder.store, "PRAGMA integrity_check") == "ok")
    }
}
