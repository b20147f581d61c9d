import ArgumentParser
import Foundation
import WordNetStore

@main
struct WordNetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wordnet",
        abstract: "Imports WordNet 3.0 into a Core Data store and looks words up in it.",
        discussion: "Without a subcommand: does all of it in order, in a temporary store or in that of --store, which is kept.",
        subcommands: [
            ImportCommand.self, LookupCommand.self, AnnotateCommand.self, StatsCommand.self, LogoutCommand.self, DemoCommand.self,
        ],
        defaultSubcommand: DemoCommand.self
    )
}

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports all of WordNet into a new store."
    )

    @OptionGroup var source: DataOptions
    @OptionGroup var destination: StoreFileOption

    func run() async throws {
        try await Store.create(at: destination.url, importing: source.folder())
    }
}

struct LookupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Prints a word's senses with their synonyms and hypernyms."
    )

    @OptionGroup var options: StoreFileOption
    @Argument(help: "The word, or several that make one: ice cream.") var word: [String]

    func run() async throws {
        try await Store.opened(at: options.url) { print(try await $0.entry(for: word.joined(separator: " "))) }
    }
}

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Counts what is in a store."
    )

    @OptionGroup var options: StoreFileOption

    func run() async throws {
        try await Store.opened(at: options.url) { print(try await $0.statistics()) }
    }
}

struct AnnotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "annotate",
        abstract: "Writes a note beside a word, which lookup shows."
    )

    @OptionGroup var options: StoreFileOption
    @Argument(help: "The word; quote several that make one.") var word: String
    @Argument(help: "The note.") var note: String

    func run() async throws {
        try await Store.opened(at: options.url) { try await $0.annotateAndProve(word, note) }
    }
}

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Removes everything from a store, which stays usable."
    )

    @OptionGroup var options: StoreFileOption

    func run() async throws {
        try await Store.opened(at: options.url) { try await $0.logOutAndProve() }
    }
}

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Imports, looks a word up, annotates it, counts, and logs out."
    )

    @OptionGroup var source: DataOptions
    @Option(help: "A file to keep the store in; it is not logged out of.") var store: String?
    @Option(help: "The word to look up.") var word = "dog"

    func run() async throws {
        let data = try source.folder()
        if let store { return try await show(data, in: URL(fileURLWithPath: store)) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wordnet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        // A temporary folder that cannot be removed is the system's to clear away.
        defer { try? FileManager.default.removeItem(at: folder) }
        try await show(data, in: folder.appendingPathComponent("wordnet.sqlite")) { store in
            print()
            try await store.logOutAndProve()
        }
    }

    private func show(_ data: URL, in url: URL, _ end: (Store) async throws -> Void = { _ in }) async throws {
        try await Store.create(at: url, importing: data)
        try await Store.opened(at: url) { store in
            print("", try await store.entry(for: word), "", separator: "\n")
            try await store.annotateAndProve(word, "looked up on this machine")
            print("", try await store.statistics(), separator: "\n")
            try await end(store)
        }
    }
}
