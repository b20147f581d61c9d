import Foundation
import Testing

@Suite("The wordnet command")
struct CommandTests {
    private let folder: TemporaryFolder
    private var store: String { folder.file("words.sqlite").path }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("explains itself")
    func help() throws {
        let run = try Run("--help")
        #expect(run.status == 0)
        for subcommand in ["import", "lookup", "stats"] { #expect(run.output.contains("  \(subcommand) ")) }
    }

    @Test("says in one sentence what to install when there is no data, and exits with 2", arguments: [nil, "import"])
    func noData(subcommand: String?) throws {
        let run =
            if let subcommand {
                try Run(subcommand, "--data", folder.url.path, "--store", store)
            } else {
                try Run("--data", folder.url.path)
            }
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("install Debian's package wordnet-base"))
        #expect(run.errors.split(separator: "\n").count == 1 && run.errors.hasSuffix(".\n"))
        #expect(try folder.contents().isEmpty)
    }

    @Test("imports into a store that lookup and stats read")
    func roundTrip() throws {
        let sample = try SampleData()
        let imported = try Run("import", "--data", sample.url.path, "--store", store)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(imported.output.contains("Imported 36 rows"))
        #expect(imported.output.contains("rows/s"))
        #expect(imported.output.contains("peak memory"))
        #expect(imported.errors.contains("100 %"))
        #expect(try folder.contents() == ["words.sqlite"])

        let lookup = try Run("lookup", "Domestic_Dog", "--store", store)
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

        let stats = try Run("stats", "--store", store)
        #expect(stats.status == 0)
        let counts = stats.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(counts.starts(with: [["Synset", "7"], ["Word", "8"], ["Sense", "11"], ["Pointer", "8"], ["Frame", "2"]]))
        #expect(counts.contains(["satellite", "adjective", "1"]))
        #expect(counts.contains(["hypernym", "2"]))
    }

    @Test("lists a word's senses in the order of the index, not of the data")
    func senseOrder() throws {
        let sample = try SampleData()
        #expect(try Run("import", "--data", sample.url.path, "--store", store).status == 0)
        #expect(
            try Run("lookup", "able", "--store", store).output == """
                able

                adjective
                  1  capable, able
                     having the skill
                  2  able
                     having the means

                """
        )
        // Two spellings in one synset are one sense of the word.
        #expect(try Run("lookup", "a", "--store", store).output.contains("  1  A, a\n"))
    }

    @Test("does all of it in a temporary store when no subcommand is given")
    func demo() throws {
        let sample = try SampleData()
        let run = try Run("--data", sample.url.path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Imported 36 rows"))
        #expect(run.output.contains("  1  dog, domestic dog\n"))
        #expect(run.output.contains("Pointers by type"))
    }

    @Test("finds no word that WordNet does not have: one sentence, and it exits with 1")
    func missingWord() throws {
        let sample = try SampleData()
        #expect(try Run("import", "--data", sample.url.path, "--store", store).status == 0)
        let run = try Run("lookup", "no such' word", "--store", store)
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors == "Error: WordNet has no word \"no such' word\".\n")
    }

    @Test("names the file and line of damaged data and leaves no store")
    func damaged() throws {
        let sample = try SampleData(changing: "data.verb", "+ 08 00", to: "+ 99 00")
        let run = try Run("import", "--data", sample.url.path, "--store", store)
        #expect(run.status == 1)
        #expect(run.errors.contains("data.verb:3: expected a verb frame's number, 01 to 35, found \"99\""))
        #expect(try folder.contents().isEmpty)
    }

    @Test("leaves a file alone that is where the store should go")
    func occupied() throws {
        let sample = try SampleData()
        try Data("mine".utf8).write(to: folder.file("words.sqlite"))
        let run = try Run("import", "--data", sample.url.path, "--store", store)
        #expect(run.status == 1)
        #expect(run.errors.contains("There is a file at \(store) already"))
        #expect(try Data(contentsOf: folder.file("words.sqlite")) == Data("mine".utf8))
    }

    @Test("says how to make a store that is not there", arguments: ["lookup", "stats"])
    func noStore(subcommand: String) throws {
        let run = try subcommand == "lookup" ? Run("lookup", "dog", "--store", store) : Run("stats", "--store", store)
        #expect(run.status == 1)
        #expect(run.errors.contains("wordnet import --store \(store)"))
        #expect(try folder.contents().isEmpty)
    }

    @Test("reports a store file that is none")
    func notAStore() throws {
        try Data(repeating: 7, count: 5000).write(to: folder.file("words.sqlite"))
        let run = try Run("stats", "--store", store)
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("Error: "))
        #expect(try Data(contentsOf: folder.file("words.sqlite")).count == 5000)
    }
}
