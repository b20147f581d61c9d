import Foundation
import SQLiteDriver

@testable import CoreData

/// One value of one object, by the number that the object was given when it was made.
struct WalkCell: Hashable, Comparable, CustomStringConvertible {
    let serial: Int
    /// An attribute, a to-one relationship, or `labels`.
    let key: String
    /// The other end, where the cell says whether there is a link.
    var other = 0

    var description: String { other == 0 ? "\(serial).\(key)" : "\(serial).\(key)[\(other)]" }
    static func < (left: WalkCell, right: WalkCell) -> Bool {
        (left.serial, left.key, left.other) < (right.serial, right.key, right.other)
    }
}

enum WalkValue: Hashable {
    case empty, link
    case number(Int)
    case text(String)
    case reference(Int)

    var target: Int? { if case .reference(let serial) = self { serial } else { nil } }
}

/// What is in a file, as plain values.
struct WalkFile: Equatable {
    var kinds: [Int: WalkModel.Kind] = [:]
    /// Those that are not nil.
    var cells: [WalkCell: WalkValue] = [:]
    var versions: [Int: Int] = [:]
    /// The parts of items, in order.
    var orders: [Int: [Int]] = [:]
    /// References to what is gone, where the delete rule should have seen to it.
    var dangling: Set<WalkCell> = []

    subscript(cell: WalkCell) -> WalkValue { cells[cell] ?? .empty }

    static func == (left: WalkFile, right: WalkFile) -> Bool {
        left.kinds == right.kinds && left.cells == right.cells && left.orders == right.orders && left.versions == right.versions
    }
}

/// Which object a row is.
struct WalkKey: Hashable {
    let root: WalkModel.Kind
    let key: Int64
}

/// Reads a file with SQL of its own, and complains about what no file may contain.
struct WalkFileReader {
    private let connection: Connection
    private let entities: [Int: WalkModel.Kind]
    private let join: (table: String, item: String, label: String)

    init(_ url: URL) throws {
        connection = try Connection(path: url.query == nil ? url.path : url.absoluteString, mode: .readWrite, isURI: url.query != nil)
        var entities: [Int: WalkModel.Kind] = [:]
        for row in try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") {
            if let kind = WalkModel.Kind(rawValue: row[1].text) { entities[row[0].number] = kind }
        }
        self.entities = entities
        let tables = try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'").map { $0[0].text }
        guard tables.count == 1 else { throw WalkFailure("the file has the join tables \(tables)") }
        let columns = try connection.rows("SELECT name FROM pragma_table_info('\(tables[0])')").map { $0[0].text }
        guard let item = columns.first(where: { $0.hasSuffix("ITEMS") }), let label = columns.first(where: { $0.hasSuffix("LABELS") })
        else { throw WalkFailure("the join table has the columns \(columns)") }
        join = (tables[0], item, label)
    }

    /// - Parameter keys: which object has which key; what is new in the file is added.
    func read(_ keys: inout [WalkKey: Int]) throws -> WalkFile {
        var file = WalkFile()
        try connection.transaction(.deferred) {
            for kind in WalkModel.Kind.allCases where kind.root == kind { try read(kind, &file, &keys) }
            for kind in WalkModel.Kind.allCases where kind.root == kind { try readReferences(kind, &file, keys) }
            try readLinks(&file, keys)
        }
        return file
    }

    func checkIntegrity() throws {
        let said = try connection.rows("PRAGMA integrity_check").map { $0[0].text }
        if said != ["ok"] { throw WalkFailure("the file is damaged: \(said)") }
    }

    private func read(_ kind: WalkModel.Kind, _ file: inout WalkFile, _ keys: inout [WalkKey: Int]) throws {
        for row in try connection.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZSERIAL, ZNUMBER, ZTEXT FROM Z\(kind.rawValue.uppercased())") {
            let key = WalkKey(root: kind, key: Int64(row[0].number))
            guard case .integer(let number) = row[3] else { throw WalkFailure("\(kind) p\(key.key) has no serial number") }
            let serial = Int(number)
            if let known = keys[key], known != serial { throw WalkFailure("\(kind) p\(key.key) was \(known) and is \(serial)") }
            if file.kinds[serial] != nil { throw WalkFailure("\(serial) is in the file twice") }
            keys[key] = serial
            file.kinds[serial] = entities[row[1].number]
            file.versions[serial] = row[2].number
            if case .integer(let number) = row[4] { file.cells[WalkCell(serial: serial, key: "number")] = .number(Int(number)) }
            if case .text(let text) = row[5] { file.cells[WalkCell(serial: serial, key: "text")] = .text(text) }
        }
    }

    private func readReferences(_ kind: WalkModel.Kind, _ file: inout WalkFile, _ keys: [WalkKey: Int]) throws {
        for toOne in WalkModel.toOnes(of: kind) {
            let column = "Z\(toOne.name.uppercased())"
            let isOrdered = toOne.inverse == "parts"
            let order = isOrdered ? "Z_FOK_\(toOne.name.uppercased())" : "NULL"
            let table = "Z\(kind.rawValue.uppercased())"
            var orders: [Int: Set<Int>] = [:]
            for row in try connection.rows("SELECT ZSERIAL, \(column), \(order) FROM \(table) WHERE \(column) IS NOT NULL ORDER BY 3") {
                let (serial, key) = (row[0].number, WalkKey(root: toOne.to, key: Int64(row[1].number)))
                guard let target = keys[key] else { throw WalkFailure("\(serial).\(toOne.name) refers to p\(key.key), which never was") }
                let cell = WalkCell(serial: serial, key: toOne.name)
                if file.kinds[target] == nil, !toOne.mayDangle { file.dangling.insert(cell) }
                file.cells[cell] = .reference(target)
                guard isOrdered else { continue }
                guard case .integer(let position) = row[2], orders[target, default: []].insert(Int(position)).inserted else {
                    throw WalkFailure("\(serial) has the position \(row[2]) in \(target), none or another's")
                }
                file.orders[target, default: []].append(serial)
            }
        }
    }

    private func readLinks(_ file: inout WalkFile, _ keys: [WalkKey: Int]) throws {
        for row in try connection.rows("SELECT \(join.item), \(join.label) FROM \(join.table)") {
            let (item, label) = (keys[WalkKey(root: .item, key: row[0].key)], keys[WalkKey(root: .label, key: row[1].key)])
            guard let item, let label, file.kinds[item] != nil, file.kinds[label] != nil else {
                throw WalkFailure("a join row \(row) of \(item ?? 0) and \(label ?? 0) leads nowhere")
            }
            file.cells[WalkCell(serial: item, key: "labels", other: label)] = .link
        }
    }
}

extension SQLiteValue {
    fileprivate var text: String { if case .text(let text) = self { text } else { "" } }
    fileprivate var number: Int { if case .integer(let number) = self { Int(number) } else { 0 } }
    fileprivate var key: Int64 { Int64(number) }
}

/// What a walk found wrong.
struct WalkFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
