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

    var url: URL { URL(fileURLWithPath: store) }

    /// - Parameter isAlone: whether others may be kept waiting meanwhile.
    func inspector(isAlone: Bool = true) throws -> StoreInspector { try opening { try StoreInspector(url: url, isAlone: isAlone) } }

    /// Runs `body`, which opens the store as SQLite's.
    ///
    /// - Throws: what `body` throws, or a sentence where the store is of another type.
    func opening<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as CocoaError where error.code == .fileReadCorruptFile {
            guard let type = documentType else { throw error }
            throw Failure(
                "\(store) is a store of type \(type), and this command reads SQLite stores: migratePersistentStore(_:to:options:type:) "
                    + "makes one of it."
            )
        }
    }

    private var documentType: String? {
        [NSBinaryStoreType, NSXMLStoreType].first {
            (try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: $0, at: url)) != nil
        }
    }
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
