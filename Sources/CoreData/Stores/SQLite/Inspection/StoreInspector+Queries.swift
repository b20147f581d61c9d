import CSQLite
import Foundation
import SQLiteDriver

/// The rows of one statement, as they come.
package struct StoredRows {
    package let columns: [String]
    fileprivate let statement: Statement

    /// Calls `body` with each row. One row is in memory at a time.
    package func forEach(_ body: ([SQLiteValue]) throws -> Void) throws {
        let places = columns.indices.map(Int32.init)
        while try statement.step() { try body(places.map(statement.value)) }
    }
}

extension StoreInspector {
    /// Runs all statements of a text, which only read, and gives `body` the rows of each that has some.
    ///
    /// - Throws: a `CocoaError` with what SQLite says, and what `body` throws. Where a statement is none, or would change something, nothing has
    ///   run.
    package func run(_ sql: String, _ body: (StoredRows) throws -> Void) throws {
        try inStore(url) {
            let statements = try prepare(sql)
            if let statement = statements.first(where: { !$0.isReadOnly }) { throw changes(statement.sql) }
            for statement in statements {
                let rows = StoredRows(columns: statement.columnNames, statement: statement)
                if rows.columns.isEmpty { try rows.forEach { _ in } } else { try body(rows) }
            }
        }
    }

    // NB: pragmas and ATTACH are read-only to SQLite, and refused where they are prepared; entities are views, of which SQLite says so.
    private func prepare(_ sql: String) throws -> [Statement] {
        do {
            return try connection.prepareAll(sql)
        } catch let error as SQLiteError where error.code == SQLITE_AUTH || error.message.hasSuffix("because it is a view") {
            throw changes(error.sql ?? sql)
        }
    }

    private func changes(_ sql: String) -> CocoaError {
        let text = sql.trimmingCharacters(in: .whitespacesAndNewlines)
        return .coreData(
            .persistentStoreOperation,
            "The store at \(url.path) is only read, and this would change something: \(text)",
            userInfo: [NSFilePathErrorKey: url.path]
        )
    }
}

/// Where the rows of an entity are.
package struct EntityPlace {
    package let name: String
    fileprivate let select: String
    /// The column of each property that has one in the entity's table, by name.
    package let columns: [String: String]
    /// The table and column with the members of each to-many relationship, by name.
    package let toMany: [String: String]
}

extension StoreInspector {
    /// Where the rows of a model's entities are, those of its subentities included.
    ///
    /// - Throws: a `CocoaError` where the store is not of the model.
    package func entityPlaces(of model: NSManagedObjectModel) throws -> [EntityPlace] {
        let schema = try schema(of: model)
        return schema.entities.map { EntityPlace($0, schema) }
    }

    /// Lets statements name an entity: what is called so has the rows of its objects and of no others, with keys, versions, and the columns that
    /// its properties have in their table.
    package func defineView(of place: EntityPlace) throws {
        try inStore(url) { try connection.defineView(place.name, as: place.select) }
    }
}

extension EntityPlace {
    fileprivate init(_ entity: SQLEntity, _ schema: SQLSchema) {
        name = entity.description.name ?? ""
        let kin = schema.entities.filter { $0.description.inheritanceChain.contains { $0 === entity.description } }
        let own = entity.columns.sorted { binaryOrder($0.key, $1.key) }.map(\.value.name)
        let list = (["Z_PK", "Z_ENT", "Z_OPT"] + own).joined(separator: ", ")
        select = "SELECT \(list) FROM main.\(entity.table) WHERE Z_ENT IN (\(kin.map { "\($0.number)" }.joined(separator: ", ")))"
        columns = entity.columns.mapValues(\.name)
        toMany = entity.toMany.mapValues(\.place)
    }
}
