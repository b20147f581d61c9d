import ArgumentParser
import Foundation
import ModelFormat
import ModelTools

/// Works with the files of Core Data: models and stores.
///
/// Exit status: 0 for yes or done; 1 for no, where a subcommand answers a question; 2 when something could not be read, written or made;
/// 64 for arguments that are none.
struct CoreDataCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coredata",
        abstract: "Works with Core Data's models and stores.",
        discussion: "Exit status: 0 done, or yes; 1 no, from a subcommand that checks; 2 a file cannot be used; 64 wrong arguments.",
        version: packageVersion,
        subcommands: [ModelCommand.self, StoreCommand.self, BrowseCommand.self]
    )
}

@main
enum Program {
    static func main() async {
        // NB: a reader that has enough, such as head, would otherwise end the program in the middle, with the store's log left behind.
        signal(SIGPIPE, SIG_IGN)
        var code = await run()
        // Whoever reads the status must not take half of an answer for all of it.
        if code < 2 { do { try flushPrinted() } catch { code = report(error) } }
        exit(code)
    }

    private static func run() async -> Int32 {
        do {
            var command = try CoreDataCommand.parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
            return 0
        } catch {
            return report(error)
        }
    }

    /// Prints what an error says, and answers the status that goes with it.
    private static func report(_ error: any Error) -> Int32 {
        let code = CoreDataCommand.exitCode(for: error)
        if let error = error as? ExitCode { return error.rawValue }
        if error is ClosedPipe { return 128 + SIGPIPE }
        // What the parser has to say has a form and a status of its own; help is no error.
        let text = CoreDataCommand.fullMessage(for: error)
        switch code {
        case .success: print(text)
        case .failure:
            printError("Error: \(sentence(for: error))")
            return 2
        default: printError(text)
        }
        return code.rawValue
    }

}

/// An error as a sentence that names the file that it is about.
func sentence(for error: any Error) -> String {
    let text = withPath(error is CocoaError ? error.localizedDescription : "\(error)", error)
    return text.hasSuffix(".") || text.hasSuffix("?") ? text : text + "."
}

/// NB: Foundation's errors of files say their names without folders, or nothing.
private func withPath(_ text: String, _ error: any Error) -> String {
    guard let error = error as? CocoaError, let path = error.filePath ?? error.url?.path, !text.contains(path) else { return text }
    let reason = (error.underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
    return "\(path): \(reason ?? text)"
}

/// The answer no, of a subcommand that checks something; it has said why.
let answerNo = ExitCode(1)

typealias Failure = ModelTools.Failure

/// Where nobody reads what is said here the command goes on: its status says what came of it.
func printError(_ text: String, terminator: String = "\n") {
    try? FileHandle.standardError.write(contentsOf: Data((text + terminator).utf8))
}

/// Prints a value for programs: JSON with keys in order.
func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
}
