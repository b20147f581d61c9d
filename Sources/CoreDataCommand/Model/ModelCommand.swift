import ArgumentParser
import ModelTools

struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Compiles, compares, checks and draws data models.",
        discussion: "SRC is an .xcdatamodeld or .momd, of which the current version counts, or one version: an .xcdatamodel or .mom.",
        subcommands: [
            CompileCommand.self, GenerateCommand.self, HashesCommand.self, PrintCommand.self, DiffCommand.self, CheckCommand.self,
            DrawCommand.self, AdoptCommand.self,
        ]
    )
}

/// A model that the arguments name.
struct ModelOptions: ParsableArguments {
    @Argument(help: "The model: .xcdatamodeld, .xcdatamodel, .momd or .mom.", completion: .file()) var src: String

    func file() throws -> ModelFile { try ModelFile(path: src) }
}
