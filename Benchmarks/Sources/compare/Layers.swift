import CoreData
import Foundation

/// A song whose class has a hook, which every layer then calls.
final class HookedSong: Song {
    override func willSave() { super.willSave() }
}

extension Bench {
    /// As `insert`, through a worker and main into the context on the store.
    func layers<Object: Song>(_ side: any Side, _ objectClass: Object.Type) throws -> Double {
        try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("songs.sqlite")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Song.model(isIndexed: false, objectClass))
            let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
            let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            root.persistentStoreCoordinator = coordinator
            let main = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            main.parent = root
            let worker = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            worker.parent = main
            let contexts = [worker, main, root]
            let observers = contexts.map {
                NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: $0, queue: nil) { _ in }
            }
            defer { observers.forEach(NotificationCenter.default.removeObserver) }
            let seconds = try cpuSeconds {
                for range in workload.chunks(of: workload.songs.count) {
                    worker.performAndWait { for index in range { Object(context: worker).assign(workload.songs[index]) } }
                    for context in contexts { try context.performAndWait { try context.save() } }
                }
            }.seconds
            try coordinator.remove(store)
            try verify(url, against: .inserted(workload.songs.count, workload), side)
            return seconds
        }
    }

    /// Nanoseconds for a call that finds the queue free.
    func performAndWait() -> Double {
        let (context, calls) = (NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType), 1_000_000)
        var sum = 0
        let seconds = wallSeconds { for call in 0..<calls { context.performAndWait { sum &+= call } } }
        precondition(sum > 0, "every call has run")
        return seconds / Double(calls) * 1e9
    }

    /// Nanoseconds for an awaited call from no actor.
    func awaitPerform() -> Double {
        let (context, calls) = (NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType), 1_000_000)
        let done = DispatchSemaphore(value: 0)
        let seconds = wallSeconds {
            Task.detached {
                for _ in 0..<calls { await context.perform {} }
                done.signal()
            }
            done.wait()
        }
        return seconds / Double(calls) * 1e9
    }
}

/// Seconds by the clock on the wall.
func wallSeconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    let duration = ContinuousClock.now - start
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
}
