import ArgumentParser
import Foundation
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
        subcommands: [ModelCommand.self, StoreCommand.self]
    )
}

@main
enum Program {
    static func main() {
        do {
            var command = try CoreDataCommand.parseAsRoot()
            try command.run()
        } catch {
            // What the parser has to say has a form and a status of its own.
            guard CoreDataCommand.exitCode(for: error) == .failure, !(error is ExitCode) else { CoreDataCommand.exit(withError: error) }
            printError("Error: \(sentence(for: error))")
            exit(2)
        }
    }

    private static func sentence(for error: any Error) -> String {
        if let error = error as? CocoaError { return error.localizedDescription }
        let text = "\(error)"
        return text.hasSuffix(".") ? text : text + "."
    }
}

/// The answer no, of a subcommand that checks something; it has said why.
let answerNo = ExitCode(1)

typealias Failure = ModelTools.Failure

func printError(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// Prints a value for programs: JSON with keys in order.
func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
}
