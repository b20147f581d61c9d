import ArgumentParser
import CoreData
import ModelFormat
import ModelTools

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Warns of what is allowed in a model and probably not meant.",
        discussion: "Missing inverses, mandatory attributes without a default, and so on. Exit status: 0 without warnings, 1 with some."
    )

    @OptionGroup var source: ModelOptions
    @Flag(help: "Print an array of objects with the keys place and text.") var json = false

    func run() throws {
        let file = try source.file()
        let model = try file.current()
        let found = warnings(in: model) + unknown(in: model)
        // What can be read can still contradict itself.
        _ = try managedModel(file)
        if json { try printJSON(found) } else { found.forEach { print("warning: \($0.description)") } }
        if !found.isEmpty { throw answerNo }
    }

    private func unknown(in model: Model) -> [ModelWarning] {
        model.unknowns.map { ModelWarning(place: "model", text: "has something unknown: \($0)") }
    }
}
