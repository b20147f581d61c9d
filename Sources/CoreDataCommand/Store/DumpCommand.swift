import ArgumentParser
import ModelTools
import CoreData
import Foundation

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Prints all objects of a store, one JSON object on each line.",
        discussion: """
            Entities come in the order of their names, the objects of each in that of their keys. Keys of a line: "entity", "id" (the URI of \
            the object's ID), "version" (how often it was saved), "attributes" and "relationships", both by name.

            Values: numbers and true/false as such; text, UUIDs, URIs and decimals as text; dates as text in UTC with microseconds; data as \
            {"base64": …}, or {"file": …} where it is in a file of its own; null for none. A to-one is an "id" or null, a to-many an array \
            of them, in order where it is ordered.
            """
    )

    @OptionGroup var source: StoreArgument
    @Option(help: "The store's model: .xcdatamodeld, .xcdatamodel, .momd or .mom.", completion: .file()) var model: String
    @Option(parsing: .upToNextOption, help: "The entities to print, without those that inherit from them; otherwise all.") var only:
        [String] = []

    func run() throws {
        let file = try ModelFile(path: model)
        let model = try NSManagedObjectModel(file.current())
        for name in only where model.entitiesByName[name] == nil { throw Failure("The model has no entity \(name).") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var lines = LineBuffer()
        // What could be read is printed, also where the rest cannot.
        defer { try? lines.flush() }
        try source.inspector().forEachObject(of: model) { object in
            guard only.isEmpty || only.contains(object.entity) else { return }
            try lines.append(encoder.encode(object))
        }
        try lines.flush()
    }
}

/// Writes lines to standard output, many at once.
private struct LineBuffer {
    private var data = Data()

    mutating func append(_ line: Data) throws {
        data += line + Data("\n".utf8)
        if data.count > 65_536 { try flush() }
    }

    mutating func flush() throws {
        try FileHandle.standardOutput.write(contentsOf: data)
        data.removeAll(keepingCapacity: true)
    }
}
