import ArgumentParser
import ModelTools
import CoreData
import Foundation

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Looks into SQLite stores. Nothing in them is changed.",
        subcommands: [InfoCommand.self, VerifyCommand.self, DumpCommand.self, SchemaCommand.self, SQLCommand.self]
    )
}

/// A store that the arguments name.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store's file.", completion: .file()) var store: String

    func inspector() throws -> StoreInspector { try StoreInspector(url: URL(fileURLWithPath: store)) }
}

/// A model for a store, where one is wanted.
struct StoreModelOptions: ParsableArguments {
    @Option(help: "The store's model: .xcdatamodeld, .xcdatamodel, .momd or .mom.", completion: .file()) var model: String?

    func read() throws -> NSManagedObjectModel? {
        try model.map { path in
            let file = try ModelFile(path: path)
            return try NSManagedObjectModel(file.current())
        }
    }
}
