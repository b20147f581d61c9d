import ArgumentParser
import CoreData
import Foundation
import ModelTools

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Prints all objects of a store, one JSON object on each line.",
        discussion: """
            Entities come in the order of their names, the objects of each in that of their keys. Keys of a line: "entity", "id" (the URI of \
            the object's ID), "version" (how often it was saved), "attributes" and "relationships", both by name.

            Values: numbers and true/false as such; text, UUIDs, URIs and decimals as text; dates as text in UTC with microseconds; data as \
            {"base64": …}, or {"file": …} where it is in a file of its own; null for none. Transformables are what their archive or property \
            list holds, objects of classes other than Foundation's an object with "class" and what they encode; other data as data. A to-one is \
            an "id" or null, a to-many an array of them, in order where it is ordered.

            The model is the one that the store carries, or that of --model, which must be the same.
            """
    )

    @OptionGroup var source: StoreArgument
    @OptionGroup var wanted: StoreModelOptions
    @Option(parsing: .upToNextOption, help: "The entities to print, without those that inherit from them; otherwise all.") var only:
        [String] = []

    func run() throws {
        let inspector = try source.inspector()
        let model = try wanted.model(of: inspector)
        for name in only { try model.expectEntity(name) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var output = Output()
        // What could be read is printed, also where the rest cannot.
        defer { try? output.flush() }
        try inspector.forEachObject(of: model) { object in
            guard only.isEmpty || only.contains(object.entity) else { return }
            try output.write(String(decoding: encoder.encode(object), as: UTF8.self) + "\n")
        }
        try output.flush()
    }
}
