import ArgumentParser
import CoreData
import ModelTools

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints the SQL that made a store's tables; with --model, where each entity and property is in them."
    )

    @OptionGroup var source: StoreArgument
    @OptionGroup var wanted: StoreModelOptions
    @Flag(help: "Print an array: of statements, or of arrays of name, place and type.") var json = false

    func run() throws {
        let inspector = try source.inspector()
        guard let model = try wanted.read() else {
            let statements = try inspector.creationStatements()
            if json { return try printJSON(statements) }
            return statements.forEach { print($0 + ";") }
        }
        let places = try inspector.places(of: model)
        if json { return try printJSON(places) }
        columns(places).forEach { print($0) }
    }
}
