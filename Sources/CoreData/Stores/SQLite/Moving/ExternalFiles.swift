import Foundation
import SQLiteDriver

/// The files beside a store, each with the data of one attribute of one object, under a name that no other has.
struct ExternalFiles {
    private let folder: URL

    /// - Parameter support: the folder beside the store.
    init(_ support: URL) { folder = support.appendingPathComponent("_EXTERNAL_DATA", isDirectory: true) }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

    var all: [URL] { names.map { folder.appendingPathComponent($0) } }

    /// Copies those that are not in the other place yet. Each is there whole or not at all.
    ///
    /// - Throws: a `CocoaError` for what the system says.
    func copy(to support: URL) throws {
        let target = ExternalFiles(support)
        let missing = Set(names).subtracting(target.names).filter { UUID(uuidString: $0) != nil }
        guard !missing.isEmpty else { return }
        try FileManager.default.createDirectory(at: target.folder, withIntermediateDirectories: true)
        for name in missing {
            let data = try Data(contentsOf: folder.appendingPathComponent(name), options: .mappedIfSafe)
            try AtomicFile.write(data, to: target.folder.appendingPathComponent(name)) { _ in }
        }
    }

    /// Removes those that no row names any more.
    func remove(_ names: Set<String>) {
        for name in names where UUID(uuidString: name) != nil {
            do { try FileManager.default.removeItem(at: folder.appendingPathComponent(name)) } catch {
                _ = FailureLog.noted("The file \(name) that no object needs any more could not be removed", error)
            }
        }
    }

    /// Removes those that another place has not.
    func remove(except support: URL?) throws {
        let kept = support.map { Set(ExternalFiles($0).names) } ?? []
        for name in names where !kept.contains(name) { try FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
    }
}

extension Connection {
    /// The names of the files that rows have their data in.
    func externalFiles(_ schema: SQLSchema) throws -> Set<String> {
        var names: Set<String> = []
        for (entity, column) in schema.markedColumns {
            let query = "SELECT \(column) FROM \(entity.table) WHERE Z_ENT = ?1 AND substr(\(column), 1, 1) = x'02'"
            for row in try rows(query, [.integer(Int64(entity.number))]) {
                if case .blob(let cell) = row[0], case .file(let name) = MarkedData(cell) { names.insert(name) }
            }
        }
        return names
    }

    /// Takes data that are in files of their own into the rows of some entities, by their numbers.
    func embed(_ table: String, _ column: String, of entities: [Int], from folder: URL?) throws {
        let numbers = entities.map(String.init).joined(separator: ", ")
        for row in try rows("SELECT Z_PK, \(column) FROM \(table) WHERE Z_ENT IN (\(numbers)) AND substr(\(column), 1, 1) = x'02'") {
            guard case .integer(let key) = row[0], case .blob(let cell) = row[1] else { continue }
            var data = Data()
            try cell.withUnsafeBytes { try MarkedData.content(of: $0, in: folder) { data = Data($0) } }
            try run("UPDATE \(table) SET \(column) = ?1 WHERE Z_PK = ?2", [.blob([1] + data), .integer(key)])
        }
    }
}

extension SQLSchema {
    /// The columns whose data may be in files of their own, of each entity.
    var markedColumns: [(entity: SQLEntity, column: String)] {
        entities.flatMap { entity in entity.columns.values.filter(\.isMarked).map(\.name).sorted(by: binaryOrder).map { (entity, $0) } }
    }
}
