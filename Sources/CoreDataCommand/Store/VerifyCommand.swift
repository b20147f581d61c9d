import ArgumentParser
import CoreData

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a store: the database, the metadata, and with --model hashes, tables and the keys of relationships.",
        discussion: "Exit status: 0 where all is well, 1 where something is not."
    )

    @OptionGroup var source: StoreArgument
    @OptionGroup var wanted: StoreModelOptions
    @Flag(help: "Print an array of sentences, empty where all is well.") var json = false

    func run() throws {
        let (inspector, model) = (try source.inspector(), try wanted.read())
        let problems = try inspector.problems() + (model.map { try inspector.problems(with: $0) } ?? [])
        if json {
            try printJSON(problems)
        } else {
            problems.forEach { print($0) }
            if problems.isEmpty { print("The store is sound" + (model == nil ? ", as far as can be seen without a model." : ".")) }
        }
        if !problems.isEmpty { throw answerNo }
    }
}
