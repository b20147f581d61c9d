import CoreData
import CoreDataStack
import Foundation

/// The longest that main has waited for a fetch.
enum Longest {
    // The harness has one thread.
    nonisolated(unsafe) static var wait = 0.0
    static var notes: [String] {
        wait > 0
            ? ["batch-import-with-main: the longest that a fetch on the main queue took: \(String(format: "%.1f", wait * 1000)) ms"] : []
    }
}

extension Bench {
    /// Imports the songs through the stack's batch-operation context; with `fetching`, main asks for a hundred songs again and again meanwhile.
    func batchImport(fetching: Bool) throws -> Double {
        try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("songs.sqlite")
            let made = Answer<Result<(CoreDataStack, NSManagedObjectContext), any Error>>()
            Task.detached { [model = Song.model(isIndexed: false)] in
                do {
                    let stack = try await CoreDataStack.constructSQLiteStack(model: model, at: url)
                    made.give(.success((stack, try await stack.newBatchOperationContext())))
                } catch {
                    made.give(.failure(error))
                }
            }
            let (stack, batch) = try made.wait().get()
            let seconds = try wallSeconds { try run(batch, stack.mainQueueContext, fetching) }
            try withExtendedLifetime(stack) {
                try verify(url, against: .inserted(workload.songs.count, workload), CoreDataSide(workload: workload))
            }
            return seconds
        }
    }

    private func run(_ batch: NSManagedObjectContext, _ main: NSManagedObjectContext, _ isFetching: Bool) throws {
        let end = Answer<Result<Void, any Error>>()
        let (songs, chunks) = (workload.songs, workload.chunks(of: workload.songs.count))
        DispatchQueue.global().async {
            end.give(
                Result {
                    for range in chunks {
                        try batch.performAndWait {
                            for index in range { Song(context: batch).assign(songs[index]) }
                            try batch.save()
                            batch.reset()
                        }
                    }
                }
            )
        }
        while !end.isGiven {
            if isFetching { try fetch(in: main) } else { usleep(1000) }
            // What the batch saved comes to main by the main queue.
            _ = RunLoop.main.run(mode: .default, before: Date())
        }
        try end.wait().get()
    }

    private func fetch(in main: NSManagedObjectContext) throws {
        let request = Song.request()
        request.fetchLimit = 100
        let seconds = try wallSeconds { _ = try main.fetch(request) }
        Longest.wait = max(Longest.wait, seconds)
    }
}

/// A value that another thread gives.
// The lock orders every access to the value.
final class Answer<Value>: @unchecked Sendable {
    private let lock = NSCondition()
    private var value: Value?

    func give(_ value: Value) {
        lock.lock()
        self.value = value
        lock.broadcast()
        lock.unlock()
    }

    var isGiven: Bool {
        lock.lock()
        defer { lock.unlock() }
        return value != nil
    }

    func wait() -> Value {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let value { return value }
            lock.wait()
        }
    }
}
