import CoreData
import Dispatch

/// What has to work wherever the main queue is served: in tests and in programs of every kind.
@MainActor public enum MainQueueExercise {
    nonisolated public static let expected = """
        direct use: 0 announced, then 1
        await from a task: on the main queue
        perform from a worker: on the main queue
        circle: main served, worker served
        await worker from main: off the main queue
        hundreds of workers: 400 saved
        """

    /// Uses a main-queue and a private context in all the ways that involve the main queue, and tells what happened.
    public static func run(at url: URL) async throws -> String {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let main = NSManagedObjectContext(.mainQueue)
        let worker = NSManagedObjectContext(.privateQueue)
        for context in [main, worker] { context.persistentStoreCoordinator = coordinator }
        return await [
            directUse(main),
            "await from a task: \(Task.detached { await main.perform { place() } }.value)",
            "perform from a worker: \(Task.detached { performFromWorker(worker, main) }.value)",
            circle(worker, main),
            "await worker from main: \(worker.perform { place() })",
            "hundreds of workers: \(crowd(above: worker)) saved",
        ].joined(separator: "\n")
    }

    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Note"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private nonisolated static func place() -> String { MainQueue.isCurrent ? "on the main queue" : "off the main queue" }

    private static func directUse(_ main: NSManagedObjectContext) async -> String {
        let announced = Counter()
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: main, queue: nil) {
            _ in
            announced.add()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        for _ in 0..<2 { NSEntityDescription.insertNewObject(forEntityName: "Note", into: main) }
        let before = announced.count
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        return "direct use: \(before) announced, then \(announced.count)"
    }

    private nonisolated static func performFromWorker(_ worker: NSManagedObjectContext, _ main: NSManagedObjectContext) -> String {
        worker.performAndWait { main.performAndWait { place() } }
    }

    /// More workers than the system has threads for, all of which need main at once. Main goes on to root, which has blocks to run that nobody waits for, and
    /// asks one of the last workers.
    private static func crowd(above root: NSManagedObjectContext) async -> Int {
        let main = NSManagedObjectContext(.mainQueue)
        main.parent = root
        let workers = (0..<400).map { _ in
            let worker = NSManagedObjectContext(.privateQueue)
            worker.parent = main
            return worker
        }
        return await withTaskGroup(of: Bool.self) { group in
            for worker in workers {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        worker.perform {
                            NSEntityDescription.insertNewObject(forEntityName: "Note", into: worker)
                            let hasSaved: Void? = try? worker.save()
                            main.perform { try? main.save() }
                            root.perform { try? root.save() }
                            continuation.resume(returning: hasSaved != nil)
                        }
                    }
                }
            }
            group.addTask { await main.perform { workers[390].performAndWait { false } } }
            var saved = 0
            for await hasSaved in group where hasSaved { saved += 1 }
            return saved
        }
    }

    /// The worker asks for main while main waits for the worker.
    private static func circle(_ worker: NSManagedObjectContext, _ main: NSManagedObjectContext) async -> String {
        let said = Said()
        waitForEachOther(worker, main, said)
        // Whichever was served first, the worker's first block has ended now.
        await worker.perform(schedule: .enqueued) {}
        return "circle: " + said.lines.sorted().joined(separator: ", ")
    }

    private static func waitForEachOther(_ worker: NSManagedObjectContext, _ main: NSManagedObjectContext, _ said: Said) {
        let started = DispatchSemaphore(value: 0)
        worker.perform {
            started.signal()
            main.performAndWait { said.add("main served") }
        }
        started.wait()
        worker.performAndWait { said.add("worker served") }
    }
}

/// Whether the caller is on the main queue, found out independently of the library.
private enum MainQueue {
    static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}

// Touched on the main queue only; the closures that do it cannot say so.
private final class Counter: @unchecked Sendable {
    private(set) var count = 0
    func add() { count += 1 }
}

// One block at a time adds to it, each waiting for the other.
private final class Said: @unchecked Sendable {
    private(set) var lines: [String] = []
    func add(_ line: String) { lines.append(line) }
}
