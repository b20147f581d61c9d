import Foundation
import SQLiteDriver

/// A save, as the history of a store has it.
package struct StoredTransaction: Sendable, Encodable {
    package let number: Int64
    /// In UTC with microseconds.
    package let time: String?
    package let author, context, process, bundle: String?
    package let changeCount: Int64
    /// The first of them.
    package let changes: [StoredChange]
}

/// A change of one object.
package struct StoredChange: Sendable, Encodable {
    /// `insert`, `update` or `delete`.
    package let kind: String
    /// The URI of the object's ID.
    package let id: String
    /// The properties that an update has changed, where the file says it in a way that is known.
    package let properties: [String]
}

extension StoreInspector {
    /// Whether the store keeps a history.
    package func hasHistory() throws -> Bool {
        let names = "'ATRANSACTION', 'ACHANGE', 'ATRANSACTIONSTRING'"
        return try number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN (\(names))") == 3
    }

    package func transactionCount() throws -> Int { Int(try number("SELECT count(*) FROM ATRANSACTION")) }

    /// A part of the history, the latest first.
    ///
    /// - Precondition: there is one.
    package func transactions(of model: NSManagedObjectModel, offset: Int, limit: Int) throws -> [StoredTransaction] {
        let schema = try schema(of: model)
        let texts = ["AUTHOR", "CONTEXTNAME", "PROCESSID", "BUNDLEID"].map { name in
            "coalesce((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.Z\(name)TS), t.Z\(name))"
        }
        let count = "(SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID = t.Z_PK)"
        let list = (["t.Z_PK", "t.ZTIMESTAMP"] + texts + [count]).joined(separator: ", ")
        let page = "ORDER BY t.Z_PK DESC LIMIT \(limit) OFFSET \(offset)"
        return try rows("SELECT \(list) FROM ATRANSACTION t \(page)").map { row in
            let number = row[0].number ?? 0
            return StoredTransaction(
                number: number,
                time: row[1].real.flatMap(dateText),
                author: row[2].text,
                context: row[3].text,
                process: row[4].text,
                bundle: row[5].text,
                changeCount: row[6].number ?? 0,
                changes: try changes(in: number, schema)
            )
        }
    }

    private func changes(in transaction: Int64, _ schema: SQLSchema) throws -> [StoredChange] {
        let list = "ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS"
        return try rows("SELECT \(list) FROM ACHANGE WHERE ZTRANSACTIONID = ?1 ORDER BY Z_PK LIMIT 20", [.integer(transaction)]).map {
            row in
            let entity = row[1].number.flatMap { schema.entity(numbered: Int(truncatingIfNeeded: $0)) }?.description
            let kind = row[0].number.flatMap { (0..<3).contains($0) ? ["insert", "update", "delete"][Int($0)] : nil }
            return StoredChange(
                kind: kind ?? "change",
                id: "x-coredata://\(uuid)/\(entity?.name ?? "?")/p\(row[2].number ?? 0)",
                properties: entity.map { Self.properties($0, row[3]) } ?? []
            )
        }
    }

    /// In the order of their names.
    private static func properties(_ entity: NSEntityDescription, _ bits: SQLiteValue) -> [String] {
        guard case .blob(let bytes) = bits else { return [] }
        return (HistoryBits(entity).properties(in: bytes) ?? []).map(\.name).sorted(by: binaryOrder)
    }
}

extension SQLiteValue {
    fileprivate var number: Int64? { if case .integer(let number) = self { number } else { nil } }
    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var real: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }
}
