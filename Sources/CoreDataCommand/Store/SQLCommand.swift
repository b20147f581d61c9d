import ArgumentParser
import CoreData
import Foundation
import ModelTools

struct SQLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Runs statements that read, and prints their rows as they come.",
        discussion: """
            Each statement's rows come under a line with the names of the columns, with tabs between them; between statements is an empty \
            line. Data are printed in hexadecimal. With --csv texts are in quotation marks where they need them; with --json each row is an \
            object on a line. A text of - is read from standard input. A statement that would change anything is refused, before any has run.

            {Book} stands for the rows of an entity, with those of its subentities and no others, {Book.title} for the column of a property: \
            "SELECT {Book.title} FROM {Book}". The names are those of the model that the store carries, or of --model.
            """
    )

    @OptionGroup var source: StoreArgument
    @Argument(help: "The statements, with semicolons between them.") var statements: String
    @OptionGroup var wanted: StoreModelOptions
    @Flag(help: "Print a JSON object for each row.") var json = false
    @Flag(help: "Print comma-separated values.") var csv = false
    @Flag(help: "Print no names of columns.") var noHeader = false

    func validate() throws {
        if json, csv { throw ValidationError("--json and --csv exclude each other.") }
    }

    func run() throws {
        let inspector = try source.inspector()
        let sql = try sql(for: inspector)
        let format: RowFormat = json ? .json : csv ? .csv : .tabs
        var (output, isFirst) = (Output(), true)
        // What could be read is printed, also where the rest cannot.
        defer { try? output.flush() }
        try inspector.run(sql) { rows in
            let names = format.names(of: rows.columns)
            if !isFirst, format != .json { try output.write("\n") }
            isFirst = false
            if !noHeader, let header = format.header(rows.columns) { try output.write(header) }
            try rows.forEach { try output.write(format.line($0, names)) }
        }
        try output.flush()
    }

    /// The text with the model's names replaced, for which the inspector knows the entities.
    private func sql(for inspector: StoreInspector) throws -> String {
        let names = try EntityNames(statements == "-" ? standardInput() : statements)
        if names.isEmpty { return try names.resolved([]).sql }
        let (sql, entities) = try names.resolved(inspector.entityPlaces(of: wanted.model(of: inspector)))
        for entity in entities { try inspector.defineView(of: entity) }
        return sql
    }

    private func standardInput() throws -> String {
        do {
            guard let text = String(data: try FileHandle.standardInput.readToEnd() ?? Data(), encoding: .utf8) else {
                throw Failure("Standard input is no text in UTF-8.")
            }
            return text
        } catch is CocoaError {
            throw Failure("Standard input cannot be read.")
        }
    }
}
