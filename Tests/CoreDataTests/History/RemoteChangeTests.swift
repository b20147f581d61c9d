import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A store that posts remote changes", .timeLimit(.minutes(20)))
struct RemoteChangeTests {
    static var options: [AnyHashable: Any] {
        [NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
    }

    private func changes(of coordinator: NSPersistentStoreCoordinator) -> NotificationCenter.Notifications.Iterator {
        NotificationCenter.default.notifications(named: .NSPersistentStoreRemoteChange, object: coordinator).makeAsyncIterator()
    }

    /// The number that the next notification leads to.
    private func number(_ changes: inout NotificationCenter.Notifications.Iterator, _ store: NSPersistentStore) async throws -> Int64? {
        let info = try #require(await changes.next()?.userInfo)
        #expect(info[NSStoreUUIDKey] as? String == store.identifier)
        #expect(info[NSPersistentStoreURLKey] as? URL == store.url)
        return (info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)?.numbers[store.identifier]
    }

    @Test("tells of own saves, with UUID, URL and token", arguments: StoreKind.allCases)
    func own(kind: StoreKind) async throws {
        let library = try Library(kind, options: Self.options)
        var changes = changes(of: library.coordinator)
        _ = try library.savedBook()
        #expect(try await number(&changes, library.store) == 1)
        _ = try library.savedBook()
        #expect(try await number(&changes, library.store) == 2)
    }

    @Test("tells of saves through other coordinators of the process", arguments: StoreKind.allCases)
    func others(kind: StoreKind) async throws {
        let library = try Library(kind, options: Self.options)
        let other = try library.separateTrackedContext()
        var changes = changes(of: library.coordinator)
        Tag(context: other).label = "x"
        try other.save()
        #expect(try await number(&changes, library.store) == 1)
    }

    @Test("tells of what other processes commit, with a log and without", arguments: ["WAL", "DELETE"])
    func processes(journal: String) async throws {
        let pragmas: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": journal]]
        let library = try Library(.file, options: Self.options.merging(pragmas) { $1 })
        var changes = changes(of: library.coordinator)
        for number: Int64 in 1...2 {
            let said = try Child.sqlite(
                library.url,
                "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZTIMESTAMP) VALUES(\(number), 16002, 0); UPDATE Z_PRIMARYKEY SET Z_MAX = \(number) WHERE Z_ENT = 16002"
            )
            #expect(said == "")
            #expect(try await self.number(&changes, library.store) == number)
        }
    }

    // * Of two stores in files one is silent, and is read; into the other somebody commits, again and again, so that time passes.
    // => The silent one is asked nothing once it was watched.
    @Test("is asked for nothing as long as nothing happens")
    func silence() async throws {
        let (silent, busy) = (try Library(.file, options: Self.options), try Library(.file, options: Self.options))
        let questions = { silent.store.watch.withLock { $0?.questions } }
        // One when the watch begins, and one for what was committed before that.
        while questions() != 2 { await Task.yield() }
        var changes = changes(of: busy.coordinator)
        for number: Int64 in 1...3 {
            let said = try Child.sqlite(
                busy.url,
                "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZTIMESTAMP) VALUES(\(number), 16002, 0); UPDATE Z_PRIMARYKEY SET Z_MAX = \(number) WHERE Z_ENT = 16002"
            )
            #expect(said == "")
            #expect(try await self.number(&changes, busy.store) == number)
            #expect(try silent.newContext().count(for: NSFetchRequest<Book>(entityName: "Book")) == 0)
        }
        #expect(questions() == 2)
    }

    @Test("tells of what other processes commit into the file that a link leads to")
    func link() async throws {
        let library = try Library(.file, options: Self.options)
        let link = library.home.folder.file("Link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: library.url)
        let stack = try Stack(link, options: Self.options)
        var changes = changes(of: stack.coordinator)
        _ = try Child.sqlite(
            library.url,
            "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZTIMESTAMP) VALUES(1, 16002, 0); UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 16002"
        )
        #expect(try await number(&changes, stack.coordinator.persistentStores[0]) == 1)
        try stack.close()
    }

    @Test("goes on telling once its store was emptied, or moved", arguments: StoreKind.allCases)
    func exchanged(kind: StoreKind) async throws {
        let library = try Library(kind, options: Self.options)
        _ = try library.savedBook()
        let emptied = try library.coordinator.emptyPersistentStore(library.store, options: Self.options)
        library.context.reset()
        var changes = changes(of: library.coordinator)
        _ = try library.savedBook()
        #expect(try await number(&changes, emptied) == 1)
        let place = library.home.url("Moved.sqlite")
        let moved = try library.coordinator.migratePersistentStore(emptied, to: place, options: Self.options, withType: kind.type)
        _ = try library.savedBook()
        #expect(try await number(&changes, moved) == 2)
    }

    @Test("tells without a place in its history that another store is there", arguments: StoreKind.allCases)
    func replaced(kind: StoreKind) async throws {
        let library = try Library(kind, options: Self.options)
        let other = try library.separateCoordinator(options: Self.options)
        var changes = changes(of: library.coordinator)
        for last: Int64 in 1...3 {
            _ = try library.savedBook()
            #expect(try await number(&changes, library.store) == last)
        }
        try other.emptyPersistentStore(other.persistentStores[0], options: Self.options)
        let context = Library.context(on: other)
        for _ in 0..<5 {
            Tag(context: context).label = "x"
            try context.save()
        }
        #expect(try await number(&changes, library.store) == nil)
        cocoaError(134070) { try library.context.history() }
    }

    @Test("tells of a store that has become another one before it was watched", arguments: StoreKind.allCases)
    func replacedBefore(kind: StoreKind) async throws {
        let library = try Library(kind, options: [NSPersistentHistoryTrackingKey: true])
        let other = try library.separateCoordinator(options: [NSPersistentHistoryTrackingKey: true])
        try other.emptyPersistentStore(other.persistentStores[0], options: [NSPersistentHistoryTrackingKey: true])
        let (numbers, continuation) = AsyncStream<Int64?>.makeStream()
        let watch = try StoreWatch(library.store) { continuation.yield($0) }
        defer { watch.stop() }
        for await number in numbers {
            #expect(number == nil)
            break
        }
    }

    @Test("without a history tells that something was committed", arguments: StoreKind.allCases)
    func withoutHistory(kind: StoreKind) async throws {
        let library = try Library(kind, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber])
        var changes = changes(of: library.coordinator)
        _ = try library.savedBook()
        #expect(try await number(&changes, library.store) == nil)
        let other = try library.separateContext()
        Tag(context: other).label = "x"
        try other.save()
        #expect(try await number(&changes, library.store) == nil)
    }

    @Test("posts nothing without the option, nor for a save of nothing, nor once it is removed", arguments: StoreKind.allCases)
    func silence(kind: StoreKind) async throws {
        let (silent, library) = (try trackedLibrary(kind), try Library(kind, options: Self.options))
        let count = Lock(0)
        let observers = [silent, library].map { library in
            NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: library.coordinator, queue: nil) { _ in
                count.withLock { $0 += 1 }
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        _ = try silent.savedBook()
        try library.context.save()
        let url = try #require(library.store.url)
        let kept = try library.separateTrackedContext()
        try library.coordinator.remove(library.store)
        let again = try Stack(url, options: Self.options)
        var changes = changes(of: again.coordinator)
        Tag(context: kept).label = "x"
        try kept.save()
        #expect(await changes.next() != nil)
        #expect(count.withLock { $0 } == 0)
        try again.close()
        if kind == .file { #expect(!exists(url, "-wal") || kept.persistentStoreCoordinator?.persistentStores.isEmpty == false) }
    }

    @Test("leaves no log behind when the last store is removed")
    func log() throws {
        let library = try Library(.file, options: Self.options)
        _ = try library.savedBook()
        #expect(exists(library.url, "-wal"))
        try library.coordinator.remove(library.store)
        #expect(!exists(library.url, "-wal"))
    }

    @Test("can be removed by whoever is told")
    func removing() async throws {
        let library = try Library(.file, options: Self.options)
        let (coordinator, done) = (library.coordinator, AsyncStream<Void>.makeStream())
        let observer = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) {
            _ in
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            done.continuation.yield()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        _ = try library.savedBook()
        for await _ in done.stream { break }
        #expect(coordinator.persistentStores.isEmpty)
    }
}
