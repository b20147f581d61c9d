import Foundation
import SQLiteDriver

extension StoreInspector {
    /// The number of objects of each entity, without those of its subentities; nil for one whose table is not where it should be.
    package func objectCounts() throws -> [String: Int64?] {
        let entities = try rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY").compactMap { row -> Numbered? in
            guard case .integer(let number) = row[0], case .text(let name) = row[1], case .integer(let parent) = row[2] else { return nil }
            return Numbered(number: number, name: name, parent: parent)
        }
        let byNumber = Dictionary(entities.map { ($0.number, $0) }) { first, _ in first }
        var counts: [String: Int64?] = [:]
        for entity in entities where entity.number <= Self.lastModelNumber {
            let table = "Z" + Self.root(of: entity, byNumber).name.uppercased()
            let isThere = try number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1", [.text(table)]) > 0
            counts[entity.name] = .some(
                // NB: the name is from the file, and nobody says that it is one of Core Data's.
                isThere ? try number("SELECT count(*) FROM \(quotedName(table)) WHERE Z_ENT = ?1", [.integer(entity.number)]) : nil
            )
        }
        return counts
    }

    /// Numbers above belong to the history.
    private static let lastModelNumber = 16_000

    private struct Numbered {
        let number: Int64
        let name: String
        let parent: Int64
    }

    private static func root(of entity: Numbered, _ byNumber: [Int64: Numbered]) -> Numbered {
        var root = entity
        for _ in byNumber {
            guard let parent = byNumber[root.parent] else { break }
            root = parent
        }
        return root
    }

    /// The statements that made the tables, indexes and triggers.
    package func creationStatements() throws -> [String] {
        try texts("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY tbl_name, type = 'table' DESC, name")
    }

    /// Where a model's entities and properties are: their names, then table and column, then the column's type.
    package func places(of model: NSManagedObjectModel) throws -> [[String]] {
        let schema = try schema(of: model)
        return schema.entities.flatMap { entity in
            let name = entity.description.name ?? ""
            let columns = entity.columns.sorted { $0.key < $1.key }.map { key, column in
                ["\(name).\(key)", "\(entity.table).\(column.name)", column.type]
            }
            let toMany = entity.toMany.sorted { $0.key < $1.key }.map { ["\(name).\($0)", $1.place, "to-many"] }
            return [[name, entity.table, "Z_ENT = \(entity.number)"]] + columns + toMany
        }
    }
}

extension SQLToMany {
    /// The table and the column that lead to the members, or that the members lead back with.
    var place: String {
        switch self {
        case .foreignKey(let table, let column, _, _): "\(table).\(column)"
        case .joinTable(let name, _, let target, _, _): "\(name).\(target)"
        case .reflexive(let name, _, let other, _): "\(name).\(other)"
        }
    }
}
