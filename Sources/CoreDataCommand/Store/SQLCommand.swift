import ArgumentParser
import CoreData
import Foundation
import SQLiteDriver

struct SQLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Runs a statement that reads, and prints its rows with tabs between the columns.",
        discussion: """
            With --model, {Book} stands for the table of an entity and {Book.title} for the column of a property: \
            "SELECT {Book.title} FROM {Book}". Data are printed in hexadecimal.
            """
    )

    @OptionGroup var source: StoreArgument
    @Argument(help: "The statement.") var statement: String
    @OptionGroup var wanted: StoreModelOptions
    @Flag(help: "Print a JSON array for each row.") var json = false

    func run() throws {
        let inspector = try source.inspector()
        let sql = try wanted.read().map { try replaceNames(inspector.places(of: $0)) } ?? statement
        let encoder = JSONEncoder()
        for row in try inspector.rows(sql) {
            print(
                json
                    ? String(decoding: try encoder.encode(row.map(\.plain)), as: UTF8.self)
                    : row.map(\.text).joined(separator: "\t")
            )
        }
    }

    private func replaceNames(_ places: [[String]]) -> String {
        places.reduce(statement) { sql, place in
            // A column goes by its own name, so that it can be used with any alias of the table.
            sql.replacingOccurrences(of: "{\(place[0])}", with: place[1].split(separator: ".").last.map(String.init) ?? place[1])
        }
    }
}

extension SQLiteValue {
    fileprivate var text: String {
        switch self {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        case .blob(let bytes): hexadecimal(Data(bytes))
        }
    }

    fileprivate var plain: StoredValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .blob(let bytes): .data(Data(bytes))
        }
    }
}
