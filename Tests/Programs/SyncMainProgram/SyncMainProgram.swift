import CoreData
import Dispatch
import MainQueueExercise

/// A program that hands its main thread to libdispatch or to a run loop.
@main enum SyncMainProgram {
    static func main() throws {
        let url = URL(fileURLWithPath: CommandLine.arguments[1])
        switch CommandLine.arguments[2] {
        case "dispatchMain":
            exercise(url)
            dispatchMain()
        case "runLoop":
            exercise(url)
            while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
        default:
            useOffQueue()
        }
    }

    private static func exercise(_ url: URL) {
        Task { @MainActor in
            print(try await MainQueueExercise.run(at: url))
            exit(0)
        }
    }

    /// Breaks the rule.
    private static func useOffQueue() {
        print(NSManagedObjectContext(.privateQueue).hasChanges)
    }
}
