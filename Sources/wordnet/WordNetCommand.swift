import ArgumentParser
import Foundation
import WordNetStore

@main
struct WordNetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wordnet",
        abstract: "Imports WordNet 3.0 into a Core Data store and looks words up in it.",
        discussion: "Without a subcommand: imports into a temporary store, looks up a word and prints counts.",
        subcommands: [ImportCommand.self, LookupCommand.self, StatsCommand.self, DemoCommand.self],
        defaultSubcommand: DemoCommand.self
    )
}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports all of WordNet into a new store."
    )

    @OptionGroup var source: DataOptions
    @OptionGroup var destination: StoreOptions

    func run() throws {
        try Store.create(at: destination.url, importing: source.folder())
    }
}

struct LookupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Prints a word's senses with their synonyms and hypernyms."
    )

    @OptionGroup var options: StoreOptions
    @Argument(help: "The word, or several that make one: ice cream.") var word: [String]

    func run() throws {
        let store = try Store.existing(at: options.url)
        defer { try? store.close() }
        print(try store.entry(for: word.joined(separator: " ")))
    }
}

struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Counts what is in a store."
    )

    @OptionGroup var options: StoreOptions

    func run() throws {
        let store = try Store.existing(at: options.url)
        print(try store.statistics())
        try store.close()
    }
}

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Imports into a temporary store, looks up a word and prints counts."
    )

    @OptionGroup var source: DataOptions
    @Option(help: "A file to keep the store in.") var store: String?
    @Option(help: "The word to look up.") var word = "dog"

    func run() throws {
        let data = try source.folder()
        if let store { return try show(data, in: URL(fileURLWithPath: store)) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wordnet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        // A temporary folder that cannot be removed is the system's to clear away.
        defer { try? FileManager.default.removeItem(at: folder) }
        try show(data, in: folder.appendingPathComponent("wordnet.sqlite"))
    }

    private func show(_ data: URL, in url: URL) throws {
        try Store.create(at: url, importing: data)
        let store = try Store.existing(at: url)
        print("", try store.entry(for: word), "", try store.statistics(), separator: "\n")
    }
}
