import ArgumentParser
import CoreData
import Foundation
import ModelTools

struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Says what a store is: identifier, size, metadata, objects of each entity, version hashes.",
        discussion: """
            The size is that of the file and of its write-ahead log together. With --model it says too whether the store opens with it as it is.
            """
    )

    @OptionGroup var source: StoreArgument
    @OptionGroup var wanted: StoreModelOptions
    @Flag(help: "Print an object with all of it.") var json = false

    func run() throws {
        let facts = try StoreFacts(source.inspector(), wanted.named())
        if json { try facts.printJSON() } else { print(facts.text) }
    }
}

/// What is said about a store.
private struct StoreFacts {
    private let inspector: StoreInspector
    private let counts: [String: Int64?]
    private let size: Int
    /// The part of the size that is in the write-ahead log.
    private let logSize: Int
    private let carriesModel: Bool
    private let journal: String
    private let isCompatible: Bool?

    init(_ inspector: StoreInspector, _ model: NSManagedObjectModel?) throws {
        self.inspector = inspector
        counts = try inspector.objectCounts()
        logSize = Self.size(inspector.url.path + "-wal")
        size = Self.size(inspector.url.path) + logSize
        carriesModel = (try? inspector.storedModel()) != nil
        if case .text(let mode)? = try inspector.rows("PRAGMA journal_mode").first?.first { journal = mode } else { journal = "?" }
        isCompatible = model.map(inspector.isCompatible)
    }

    /// 0 where there is no file.
    private static func size(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
    }

    private var others: [String: Any] {
        inspector.metadata.filter { ![NSStoreUUIDKey, NSStoreModelVersionHashesKey].contains($0.key) }
    }

    var text: String {
        let head = [
            ["store", inspector.url.path], ["identifier", inspector.uuid], ["size", sizeText], ["journal", journal],
            ["carries its model", carriesModel ? "yes" : "no"],
        ]
        let metadata = others.sorted { $0.key < $1.key }.map { [$0.key, "\(plain($0.value))"] }
        let fits = isCompatible.map { [["opens with model", $0 ? "yes" : "no"]] } ?? []
        let entities = Set(counts.keys).union(inspector.versionHashes.keys).sorted().map { name in
            [name, count(name), inspector.versionHashes[name].map(hexadecimal) ?? "no version hash"]
        }
        return (columns(head + metadata + fits) + [""] + columns([["entity", "objects", "version hash"]] + entities)).joined(
            separator: "\n"
        )
    }

    private var sizeText: String { "\(size) bytes" + (logSize > 0 ? ", of which \(logSize) in the write-ahead log" : "") }

    private func count(_ name: String) -> String { (counts[name] ?? nil).map { "\($0)" } ?? "?" }

    func printJSON() throws {
        var facts: [String: Any] = [
            "store": inspector.url.path, "identifier": inspector.uuid, "size": size, "logSize": logSize, "journal": journal,
            "carriesModel": carriesModel, "metadata": plain(others),
            "objects": counts.mapValues { $0.map { $0 as Any } ?? NSNull() },
            "versionHashes": inspector.versionHashes.mapValues(hexadecimal),
        ]
        if let isCompatible { facts["isCompatible"] = isCompatible }
        let data = try JSONSerialization.data(withJSONObject: facts, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        print(String(decoding: data, as: UTF8.self))
    }
}

/// A value of a property list in the forms that JSON has: data in hexadecimal, dates as text.
private func plain(_ value: Any) -> Any {
    switch value {
    case let data as Data: hexadecimal(data)
    case let date as Date: dateText(date.timeIntervalSinceReferenceDate) ?? "\(date.timeIntervalSinceReferenceDate)"
    case let elements as [Any]: elements.map(plain)
    case let entries as [String: Any]: entries.mapValues(plain)
    default: value
    }
}
