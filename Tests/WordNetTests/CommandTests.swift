import Foundation
import TestSupport
import Testing

@testable import WordNetStore

@Suite("The wordnet command")
struct CommandTests {
    private let folder: TemporaryFolder
    private var store: String { folder.file("words.sqlite").path }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("explains itself")
    func help() async throws {
        let run = try await Run("--help")
        #expect(run.status == 0)
        for subcommand in ["import", "lookup", "annotate", "stats", "logout"] { #expect(run.output.contains("  \(subcommand) ")) }
    }

    @Test("says in one sentence what to install when there is no data, and exits with 2", arguments: [nil, "import"])
    func noData(subcommand: String?) async throws {
        let run =
            if let subcommand {
                try await Run(subcommand, "--data", folder.url.path, "--store", store)
            } else {
                try await Run("--data", folder.url.path)
            }
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("install Debian's package wordnet-base"))
        #expect(run.errors.split(separator: "\n").count == 1 && run.errors.hasSuffix(".\n"))
        #expect(try folder.contents().isEmpty)
    }

    @Test("imports into a store that lookup and stats read")
    func roundTrip() async throws {
        let sample = try SampleData()
        let imported = try await Run("import", "--data", sample.url.path, "--store", store)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(imported.output.contains("Imported 36 rows"))
        #expect(imported.output.contains("rows/s"))
        #expect(imported.output.contains("peak memory"))
        #expect(imported.output.contains("Meanwhile the main context answered"))
        #expect(imported.errors.contains("100 %"))
        #expect(try folder.contents() == ["words.sqlite"])
        try await lookUp()
    }

    // * Two imports were killed; a third one is at work; another store has one, too.
    @Test("takes away what imports of the same store left that were killed, and not what one is at work in")
    func abandoned() async throws {
        let sample = try SampleData()
        let other = "other.sqlite.partial-\(UUID())"
        for name in ["words.sqlite.partial-\(UUID())", "words.sqlite.partial-\(UUID())", other] {
            try folder.write("half", to: "\(name)/words.sqlite")
        }
        let work = try Workshop(for: folder.file("words.sqlite"))
        #expect(try folder.contents() == [other, work.url.lastPathComponent])
        try folder.write("half", to: "words.sqlite.partial-\(UUID())/words.sqlite-wal")
        let imported = try await Run("import", "--data", sample.url.path, "--store", store)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try folder.contents() == [other, "words.sqlite", work.url.lastPathComponent])
        work.remove()
        #expect(try folder.contents() == [other, "words.sqlite"])
    }

    @Test("leaves alone what others have put beside a store, whatever its name")
    func strangers() async throws {
        let names = ["1/words.sqlite", "mine/notes.txt", "\(UUID())/notes.txt"].map { "words.sqlite.partial-" + $0 }
        for name in names { try folder.write("mine", to: name) }
        let work = try Workshop(for: folder.file("words.sqlite"))
        work.remove()
        for name in names { #expect(try String(contentsOf: folder.file(name), encoding: .utf8) == "mine") }
    }

    @Test("makes no store of an empty file", arguments: ["lookup", "stats", "annotate", "logout"])
    func emptyFile(subcommand: String) async throws {
        try folder.write("", to: "words.sqlite")
        let words = ["lookup": ["dog"], "annotate": ["dog", "a note"]][subcommand] ?? []
        let run = try await Run([subcommand] + words + ["--store", store])
        #expect(run.status == 1 && run.errors.contains("is not a Core Data store"), "\(run.errors)")
        #expect(try folder.contents() == ["words.sqlite"] && Data(contentsOf: folder.file("words.sqlite")).isEmpty)
    }

    private func lookUp() async throws {
        let lookup = try await Run("lookup", "Domestic_Dog", "--store", store)
        #expect(lookup.status == 0)
        #expect(
            lookup.output == """
                domestic dog

                noun
                  1  dog, domestic dog
                     a beast | "the dog barked"
                     → entity

                """
        )

        let stats = try await Run("stats", "--store", store)
        #expect(stats.status == 0)
        let counts = stats.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(counts.starts(with: [["Synset", "7"], ["Word", "8"], ["Sense", "11"], ["Pointer", "8"], ["Frame", "2"]]))
        #expect(counts.contains(["satellite", "adjective", "1"]))
        #expect(counts.contains(["hypernym", "2"]))
    }

    @Test("lists a word's senses in the order of the index, not of the data")
    func senseOrder() async throws {
        let sample = try SampleData()
        #expect(try await Run("import", "--data", sample.url.path, "--store", store).status == 0)
        #expect(
            try await Run("lookup", "able", "--store", store).output == """
                able

                adjective
                  1  capable, able
                     having the skill
                  2  able
                     having the means

                """
        )
        // Two spellings in one synset are one sense of the word.
        #expect(try await Run("lookup", "a", "--store", store).output.contains("  1  A, a\n"))
    }

    @Test("does all of it in a temporary store when no subcommand is given")
    func demo() async throws {
        let sample = try SampleData()
        let run = try await Run("--data", sample.url.path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Imported 36 rows"))
        #expect(run.output.contains("  1  dog, domestic dog\n"))
        #expect(run.output.contains("Pointers by type"))
        let steps = [
            "Imported 36 rows", "Meanwhile the main context", "domestic dog", "A worker saved the note", "Synset", "Logged out: 0 synsets",
        ]
        let places = steps.map { run.output.range(of: $0)?.lowerBound }
        #expect(places.allSatisfy { $0 != nil } && places.compactMap { $0 }.sorted() == places.compactMap { $0 })
    }

    @Test("keeps the store that it is given")
    func keptDemo() async throws {
        let sample = try SampleData()
        let run = try await Run("--data", sample.url.path, "--store", store)
        #expect(run.status == 0 && !run.output.contains("Logged out"))
        #expect(try await Run("lookup", "dog", "--store", store).output.contains("note: looked up on this machine"))
        #expect(try folder.contents() == ["words.sqlite"])
    }

    @Test("writes notes through a worker into the file, where lookup finds them")
    func annotate() async throws {
        let sample = try SampleData()
        #expect(try await Run("import", "--data", sample.url.path, "--store", store).status == 0)
        let run = try await Run("annotate", "Domestic_Dog", "my friend", "--store", store)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "A worker saved the note; a second coordinator reads in the file: my friend\n")
        #expect(try await Run("lookup", "domestic dog", "--store", store).output.hasPrefix("domestic dog\n  note: my friend\n"))
        let missing = try await Run("annotate", "no such word", "note", "--store", store)
        #expect(missing.status == 1 && missing.errors == "Error: WordNet has no word \"no such word\".\n")
        #expect(try folder.contents() == ["words.sqlite"])
    }

    @Test("logs out: nothing is left in the store, which goes on being one")
    func logout() async throws {
        let sample = try SampleData()
        #expect(try await Run("import", "--data", sample.url.path, "--store", store).status == 0)
        let run = try await Run("logout", "--store", store)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Logged out: 0 synsets and 0 words are left."))
        #expect(run.output.contains("a worker saved 1 word"))
        #expect(try await Run("lookup", "dog", "--store", store).status == 1)
        let counts = try await Run("stats", "--store", store).output.split(separator: "\n").prefix(5)
        #expect(counts.count == 5 && counts.allSatisfy { $0.hasSuffix(" 0") })
        #expect(try folder.contents() == ["words.sqlite"])
    }

    @Test("finds no word that WordNet does not have: one sentence, and it exits with 1")
    func missingWord() async throws {
        let sample = try SampleData()
        #expect(try await Run("import", "--data", sample.url.path, "--store", store).status == 0)
        let run = try await Run("lookup", "no such' word", "--store", store)
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors == "Error: WordNet has no word \"no such' word\".\n")
    }

    @Test("names the file and line of damaged data and leaves no store")
    func damaged() async throws {
        let sample = try SampleData(changing: "data.verb", "+ 08 00", to: "+ 99 00")
        let run = try await Run("import", "--data", sample.url.path, "--store", store)
        #expect(run.status == 1)
        #expect(run.errors.contains("data.verb:3: expected a verb frame's number, 01 to 35, found \"99\""))
        #expect(try folder.contents().isEmpty)
    }

    @Test("leaves a file alone that is where the store should go")
    func occupied() async throws {
        let sample = try SampleData()
        try Data("mine".utf8).write(to: folder.file("words.sqlite"))
        let run = try await Run("import", "--data", sample.url.path, "--store", store)
        #expect(run.status == 1)
        #expect(run.errors.contains("There is a file at \(store) already"))
        #expect(try Data(contentsOf: folder.file("words.sqlite")) == Data("mine".utf8))
    }

    @Test("says how to make a store that is not there", arguments: ["lookup", "stats", "annotate", "logout"])
    func noStore(subcommand: String) async throws {
        let words = ["lookup": ["dog"], "annotate": ["dog", "a note"]][subcommand] ?? []
        let run = try await Run([subcommand] + words + ["--store", store])
        #expect(run.status == 1)
        #expect(run.errors.contains("wordnet import --store \(store)"))
        #expect(try folder.contents().isEmpty)
    }

    @Test("reports a store file that is none")
    func notAStore() async throws {
        try Data(repeating: 7, count: 5000).write(to: folder.file("words.sqlite"))
        let run = try await Run("stats", "--store", store)
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("Error: "))
        #expect(try Data(contentsOf: folder.file("words.sqlite")).count == 5000)
    }
}
