import Foundation
import Logging

/// A line in the log for what fails, also where the program drops the error.
enum FailureLog {
    /// Gives what `body` gives. What it throws is in the log too.
    static func noting<Result>(_ what: @autoclosure () -> String, _ body: () throws -> Result) rethrows -> Result {
        do { return try body() } catch { throw noted(what(), error) }
    }

    /// The error, which is in the log now.
    static func noted(_ what: String, _ error: any Error) -> any Error {
        let code = (error as? CocoaError).map { " (\($0.errorCode))" } ?? ""
        Logger(label: "CoreData").error("\(what): \(error.localizedDescription)\(code)")
        return error
    }
}
