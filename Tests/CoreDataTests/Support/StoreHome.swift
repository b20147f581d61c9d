import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// Where a test's stores of one kind are: a folder, or the memory of this process. They outlast their coordinators, and go with the home,
/// which checks first that they are sound.
final class StoreHome {
    let kind: StoreKind
    let folder: TemporaryFolder
    /// Outside readers, one for each store in memory, by the store's name.
    private var readers: [String: Connection] = [:]
    private var urls: [String: URL] = [:]

    init(_ kind: StoreKind) throws {
        self.kind = kind
        folder = try TemporaryFolder()
    }

    deinit {
        for (name, url) in urls where kind == .memory || FileManager.default.fileExists(atPath: url.path) {
            do {
                let said = try (readers[name] ?? Connection(path: url.path, mode: .readWrite)).rows("PRAGMA integrity_check")
                if said != [[.text("ok")]] { Issue.record("\(name) is damaged: \(said)") }
            } catch {
                Issue.record("\(name) cannot be checked: \(error)")
            }
        }
    }

    /// The place of the store of a name, the same each time.
    func url(_ name: String = "Store.sqlite") -> URL {
        if let url = urls[name] { return url }
        let url = kind == .file ? folder.file(name) : URL(string: "file:///\(UUID().uuidString)?vfs=memdb")!
        urls[name] = url
        if kind == .memory { readers[name] = try? Connection(path: url.absoluteString, mode: .readWriteCreate, isURI: true) }
        return url
    }

    /// What an outside reader finds, as the `sqlite3` command prints it, after checking that the store is sound.
    func sql(_ query: String, in name: String = "Store.sqlite", sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let run = { (query: String) in
            try self.readers[name].map { try $0.printed(query) } ?? Child.sqlite(self.url(name), query)
        }
        #expect(try run("PRAGMA integrity_check") == "ok", sourceLocation: sourceLocation)
        return try run(query)
    }
}

extension Connection {
    /// The rows of several statements, as the `sqlite3` command prints them.
    fileprivate func printed(_ statements: String) throws -> String {
        try statements.split(separator: ";").flatMap { try rows(String($0)) }
            .map { $0.map(\.printed).joined(separator: "|") }
            .joined(separator: "\n")
    }
}

extension SQLiteValue {
    fileprivate var printed: String {
        switch self {
        case .null: ""
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text
        case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}
