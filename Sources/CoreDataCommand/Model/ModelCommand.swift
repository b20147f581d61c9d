import ArgumentParser
import CoreData
import Foundation
import ModelFormat
import ModelTools

struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Compiles, compares, checks and draws data models.",
        discussion: """
            SRC is an .xcdatamodeld or .momd, of which the current version counts, or one version: an .xcdatamodel or .mom, or a \
            store that carries its model.
            """,
        subcommands: [
            CompileCommand.self, GenerateCommand.self, HashesCommand.self, PrintCommand.self, DiffCommand.self, CheckCommand.self,
            DrawCommand.self, AdoptCommand.self,
        ]
    )
}

/// A model that the arguments name.
struct ModelOptions: ParsableArguments {
    @Argument(help: "The model: .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store that carries it.", completion: .file())
    var src: String

    func file() throws -> ModelFile { try modelFile(src) }
}

/// The model at a path, which may be that of a store.
func modelFile(_ path: String) throws -> ModelFile {
    let isStore = !ModelFile.isModel(path) && FileManager.default.fileExists(atPath: path)
    return isStore ? try storedModelFile(path) : try ModelFile(path: path)
}

/// The current version of a model as a coordinator takes it.
///
/// - Throws: an error that names the file, also for a model that contradicts itself.
func managedModel(_ file: ModelFile) throws -> NSManagedObjectModel {
    do {
        return try NSManagedObjectModel(file.current())
    } catch var error as ModelFormatError {
        error.file = error.file ?? file.path
        throw error
    } catch let error as CocoaError {
        throw Failure("\(file.path): \(error.localizedDescription)")
    }
}

private func storedModelFile(_ path: String) throws -> ModelFile {
    let inspector: StoreInspector
    do {
        inspector = try StoreInspector(url: URL(fileURLWithPath: path))
    } catch let error as CocoaError where [.fileReadCorruptFile, .persistentStoreIncompatibleSchema].contains(error.code) {
        throw Failure("\(path) is no model, whose name would end in .xcdatamodeld, .xcdatamodel, .momd or .mom, and no store.")
    }
    return ModelFile(path: path, model: try inspector.requireStoredModel())
}
