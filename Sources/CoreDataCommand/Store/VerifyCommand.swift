import ArgumentParser
import CoreData
import Foundation
import ModelFormat

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a store: the database, the metadata, and with its model hashes, tables and the keys of relationships.",
        discussion:
            "The model is that of --model, or else the one that the store carries. Exit status: 0 where all is well, 1 where something is not."
    )

    @OptionGroup var source: StoreArgument
    @OptionGroup var wanted: StoreModelOptions
    @Option(
        help: "An older copy of the store: whether the history since tells of all that has changed.",
        completion: .file()
    ) var since: String?
    @Flag(help: "Print an array of sentences, empty where all is well.") var json = false

    func run() throws {
        let inspector = try source.inspector()
        var problems = try inspector.problems()
        let model = try wanted.named() ?? storedModel(of: inspector, &problems)
        if let model { problems += try inspector.problems(with: model) }
        if let since { problems += try replayProblems(inspector, since, model) }
        if json {
            try printJSON(problems)
        } else {
            problems.forEach { print($0) }
            if problems.isEmpty { print("The store is sound" + (model == nil ? ", as far as can be seen without a model." : ".")) }
        }
        if !problems.isEmpty { throw answerNo }
    }

    private func replayProblems(_ inspector: StoreInspector, _ since: String, _ model: NSManagedObjectModel?) throws -> [String] {
        guard let model else { throw Failure("The history can be read with the store's model only. Name one with --model.") }
        return try inspector.problems(since: StoreInspector(url: URL(fileURLWithPath: since)), with: model)
    }

    /// The model that the store carries, if it does; one that cannot be read is a problem.
    private func storedModel(of inspector: StoreInspector, _ problems: inout [String]) throws -> NSManagedObjectModel? {
        do {
            return try inspector.storedModel().map { try NSManagedObjectModel($0) }
        } catch let error as CocoaError where error.code == .fileReadCorruptFile {
            problems.append(error.localizedDescription)
            return nil
        } catch let error as ModelFormatError {
            problems.append("The model that the store carries cannot be used: \(error).")
            return nil
        }
    }
}
