import ArgumentParser
import CoreData
import ModelTools

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints the SQL that made a store's tables; with --names or --model, where each entity and property is in them."
    )

    @OptionGroup var source: StoreArgument
    @OptionGroup var wanted: StoreModelOptions
    @Flag(help: "Say where each entity and property is, by the model that the store carries.") var names = false
    @Flag(help: "Print an array: of statements, or of arrays of name, place and type.") var json = false

    func run() throws {
        let inspector = try source.inspector()
        guard names || wanted.model != nil else {
            let statements = try inspector.creationStatements()
            if json { return try printJSON(statements) }
            return statements.forEach { print($0 + ";") }
        }
        let places = try inspector.places(of: wanted.model(of: inspector))
        if json { return try printJSON(places) }
        columns(places).forEach { print($0) }
    }
}
