import Foundation
import MainQueueExercise

/// A program with an async main.
@main enum AsyncMainProgram {
    static func main() async throws {
        print(try await MainQueueExercise.run(at: URL(fileURLWithPath: CommandLine.arguments[1])))
    }
}
