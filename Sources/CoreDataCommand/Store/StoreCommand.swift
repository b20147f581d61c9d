import ArgumentParser
import CoreData
import Foundation
import ModelFormat
import ModelTools

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Looks into SQLite stores, and migrates them. Only migrate changes anything.",
        subcommands: [
            InfoCommand.self, VerifyCommand.self, DumpCommand.self, SchemaCommand.self, SQLCommand.self, ExplainCommand.self,
            MigrateCommand.self,
        ]
    )
}

/// A store that the arguments name.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store's file.", completion: .file()) var store: String

    func inspector() throws -> StoreInspector { try StoreInspector(url: URL(fileURLWithPath: store)) }
}

/// A model for a store: one that the arguments name, or else the one that the store carries.
struct StoreModelOptions: ParsableArguments {
    @Option(
        help: "The store's model: .xcdatamodeld, .xcdatamodel, .momd or .mom. Otherwise it is the one that the store carries.",
        completion: .file()
    ) var model: String?

    /// The model that the arguments name.
    func named() throws -> NSManagedObjectModel? { try model.map { try managedModel(modelFile($0)) } }

    /// The store's model.
    ///
    /// - Throws: also for a model that is not the store's, and for a store that carries none.
    func model(of inspector: StoreInspector) throws -> NSManagedObjectModel {
        guard let named = try named() else { return try NSManagedObjectModel(source(of: inspector)) }
        guard inspector.isCompatible(with: named) else {
            let differences = inspector.differences(from: named).prefix(3).joined(separator: " ")
            throw Failure("The store at \(inspector.url.path) is not of the model at \(model ?? ""). \(differences)")
        }
        return named
    }

    /// The same, as model files have it; with what else they say.
    func source(of inspector: StoreInspector) throws -> Model {
        if let model { return try modelFile(model).current() }
        do {
            return try inspector.requireStoredModel()
        } catch let error as CocoaError where error.code == .migrationMissingSourceModel {
            throw Failure("\(error.localizedDescription) Name one with --model.")
        }
    }
}
