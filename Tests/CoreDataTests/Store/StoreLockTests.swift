import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("The lock of a database", .timeLimit(.minutes(20)))
struct StoreLockTests {
    private let lock = StoreLock(.memory(name: "test"))
    private let order = Lock<[String]>([])
    private let group = DispatchGroup()

    /// Starts a thread that takes a turn, and returns when it waits for it.
    private func queueUp(_ name: String, writes: Bool) {
        let count = lock.waitingCount
        let (lock, order) = (lock, order)
        let note: @Sendable () -> Void = { order.withLock { $0.append(name) } }
        start { if writes { lock.write(note) } else { lock.read(note) } }
        while lock.waitingCount == count { sched_yield() }
    }

    /// Runs `body` on a thread of its own: a queue might have none to spare.
    private func start(_ body: @escaping @Sendable () -> Void) {
        let group = group
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }

    private func order(_ body: () -> Void) -> [String] {
        body()
        group.wait()
        return order.withLock { $0 }
    }

    @Test("stops a program that would wait in its turn for itself, and says so", arguments: [true, false])
    func itself(reads: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [reads] in
            let lock = StoreLock(.memory(name: "itself"))
            lock.write { if reads { lock.read {} } else { lock.write {} } }
        }
        #expect(complaint(result).contains("would wait for itself"))
    }

    @Test("is taken in the order in which threads came")
    func fairness() {
        let names = (0..<6).map { "\($0)" }
        #expect(order { lock.write { for name in names { queueUp(name, writes: true) } } } == names)
    }

    @Test("is shared by readers, but not with a reader who came after a writer")
    func readers() {
        let order = order {
            lock.read {
                lock.read { queueUp("writer", writes: true) }
                queueUp("reader", writes: false)
            }
        }
        #expect(order == ["writer", "reader"])
        #expect(lock.waitingCount == 0)
    }

    @Test("is handed to all readers up to the next writer at once")
    func batch() {
        let inside = DispatchSemaphore(value: 0)
        let lock = lock
        lock.write {
            for _ in 0..<2 {
                let count = lock.waitingCount
                start {
                    lock.read {
                        // Each lets the other go on: neither would, were they not inside together.
                        inside.signal()
                        #expect(inside.wait(timeout: .now() + 600) == .success)
                        inside.signal()
                    }
                }
                while lock.waitingCount == count { sched_yield() }
            }
            queueUp("writer", writes: true)
        }
        group.wait()
        #expect(order.withLock { $0 } == ["writer"])
    }

    @Test("is kept for a thread's next turns, also to read, until it lets go")
    func headStart() {
        let names = order {
            var end: @Sendable () -> Void = {}
            lock.write {
                end = lock.keepNextTurn()
                queueUp("other", writes: true)
            }
            lock.write { order.withLock { $0.append("first") } }
            lock.read { order.withLock { $0.append("second") } }
            end()
        }
        #expect(names == ["first", "second", "other"])
    }

    @Test("is not kept for ever where nobody lets go")
    func forgottenHeadStart() {
        lock.write {
            _ = lock.keepNextTurn()
            queueUp("other", writes: true)
        }
        group.wait()
        #expect(lock.write { order.withLock { $0 } } == ["other"])
        #expect(lock.waitingCount == 0)
    }

    @Test("is given back when an error is thrown")
    func throwing() {
        #expect(throws: CocoaError.self) { try lock.write { throw CocoaError(.coreData) } }
        #expect(throws: CocoaError.self) { try lock.read { throw CocoaError(.coreData) } }
        #expect(lock.write { true })
    }

    @Test("is one for each database, whichever path led to it, and another for a file that took its place")
    func identity() throws {
        let folder = try TemporaryFolder()
        let (file, link) = (folder.store, folder.file("link"))
        #expect(DatabaseIdentity(path: file.path) == nil)
        try Data().write(to: file)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let identity = try #require(DatabaseIdentity(path: file.path))
        #expect(DatabaseIdentity(path: link.path) == identity)
        let lock = StoreLock.of(identity)
        #expect(StoreLock.of(identity) === lock)
        try FileManager.default.moveItem(at: file, to: folder.file("moved"))
        try Data().write(to: file)
        #expect(DatabaseIdentity(path: file.path) != identity)
        #expect(DatabaseIdentity(path: folder.file("moved").path) == identity)
    }

    @Test("makes writers of one process wait for each other without a limit, on however many coordinators", arguments: StoreKind.allCases)
    func noTimeout(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let contexts = try (0..<8).map { _ in
            try Stack(home.url(), options: [NSPersistentStoreTimeoutOption: 0]).newContext()
        }
        let errors = Lock<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: contexts.count) { thread in
            let context = contexts[thread]
            context.performAndWait {
                for _ in 0..<20 {
                    for _ in 0..<20 { Tag(context: context).label = "\(thread)" }
                    do { try context.save() } catch { errors.withLock { $0.append(error) } }
                }
            }
        }
        errors.withLock { #expect($0.isEmpty, "\($0.first.map { "\($0)" } ?? "")") }
        #expect(try home.sql("SELECT COUNT(*), COUNT(DISTINCT Z_PK) FROM ZTAG") == "3200|3200")
    }

    // * One coordinator has begun to save to the first of two stores; another, which has them the other way round, begins to save to both.
    // => It waits for the store that the first one has, and holds none that the first one needs.
    @Test("of two stores is taken in one order by all coordinators, whichever was added first", arguments: StoreKind.allCases)
    func crossing(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let contexts = try [["a", "b"], ["b", "a"]].map { try makeContext(on: $0.map { home.url($0) }) }
        let stores = contexts.map { $0.persistentStoreCoordinator?.persistentStores.compactMap { $0 as? SQLiteStore } ?? [] }
        let locks = stores[0].map(\.lock)
        let injectors = try stores[0].map(FaultInjector.init)
        let hasBegun = Lock(false)
        let save: @Sendable (Int) -> Void = { number in
            #expect(throws: Never.self) { try contexts[number].performAndWait { try contexts[number].save() } }
        }
        let startOther = {
            start { save(1) }
            while locks.allSatisfy({ $0.waitingCount == 0 }) { sched_yield() }
        }
        for injector in injectors {
            injector.arm(1) { _ in
                let isFirst = hasBegun.withLock { hasBegun in
                    defer { hasBegun = true }
                    return !hasBegun
                }
                if isFirst { startOther() }
            }
        }
        start { save(0) }
        #expect(group.wait(timeout: .now() + 600) == .success, "The two saves wait for each other.")
        for name in ["a", "b"] { #expect(try home.sql("SELECT COUNT(*) FROM ZTAG", in: name) == "2") }
    }

    /// A context with an unsaved tag for each of some stores.
    private func makeContext(on urls: [URL]) throws -> NSManagedObjectContext {
        let stack = Stack()
        let context = stack.newContext()
        for url in urls { context.assign(Tag(context: context), to: try stack.add(url)) }
        return context
    }
}
