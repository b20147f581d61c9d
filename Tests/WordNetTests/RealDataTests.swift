import Foundation
import SQLiteDriver
import TestSupport
import Testing

private let realData = URL(fileURLWithPath: "/usr/share/wordnet")

/// The import of the real WordNet, compared with the files as another, simpler reader sees them.
@Suite("An import of all of WordNet")
struct RealDataTests {
    @Test(
        "holds what the files say",
        .enabled(
            if: FileManager.default.fileExists(atPath: realData.appendingPathComponent("data.noun").path),
            "needs Debian's package wordnet-base"
        )
    )
    func importsEverything() async throws {
        let folder = try TemporaryFolder()
        let run = try await Run("import", "--data", realData.path, "--store", folder.file("words.sqlite").path)
        try #require(run.status == 0, "\(run.errors)")
        let store = try Connection(path: folder.file("words.sqlite").path, mode: .readOnly)
        #expect(try store.rows("PRAGMA integrity_check") == [[.text("ok")]])

        let files = try PlainReader()
        #expect(try counts(store, "SELECT ZPARTOFSPEECH, COUNT(*) FROM ZSYNSET GROUP BY 1") == files.synsetsByType)
        #expect(try counts(store, "SELECT ZSYMBOL, COUNT(*) FROM ZPOINTER GROUP BY 1") == files.pointersBySymbol)
        #expect(try count(store, "ZSYNSET") == 117_659)
        #expect(try count(store, "ZSENSE") == files.senseCount)
        #expect(try count(store, "ZFRAME") == files.frameCount)
        #expect(try count(store, "ZWORD") == files.lemmas.count)
        #expect(try count(store, "ZPOINTER WHERE ZSOURCESENSE IS NOT NULL") == files.lexicalPointerCount)
        #expect(try count(store, "ZPOINTER WHERE (ZSOURCESENSE IS NULL) <> (ZTARGETSENSE IS NULL)") == 0)
        try checkSynsets(store, files)
        try checkHypernymChains(store, files)
        try checkWords(store, files)
    }

    /// Gloss and senses of every 500th synset.
    private func checkSynsets(_ store: Connection, _ files: PlainReader) throws {
        for key in files.sample(every: 500) {
            let line = try #require(files.lines[key])
            let rows = try store.rows(
                """
                SELECT s.ZGLOSS, e.ZTEXT || IFNULL('(' || e.ZMARKER || ')', '')
                FROM ZSYNSET s JOIN ZSENSE e ON e.ZSYNSET = s.Z_PK WHERE \(key.condition("s")) ORDER BY e.Z_FOK_SYNSET
                """
            )
            #expect(rows == line.words.map { [.text(line.gloss), .text($0)] }, "\(key)")
        }
    }

    /// From every 500th noun or verb up to the top, comparing all hypernyms at each step and following the first.
    private func checkHypernymChains(_ store: Connection, _ files: PlainReader) throws {
        var checked = 0
        for start in files.sample(every: 500) where "nv".contains(start.letter) {
            var key = start
            var seen: Set<PlainReader.Key> = []
            while seen.insert(key).inserted {
                let expected = try #require(files.lines[key]).hypernyms
                let rows = try store.rows(
                    """
                    SELECT t.ZOFFSET FROM ZSYNSET s JOIN ZPOINTER p ON p.ZSOURCE = s.Z_PK JOIN ZSYNSET t ON p.ZTARGET = t.Z_PK
                    WHERE \(key.condition("s")) AND p.ZSYMBOL IN ('@', '@i') ORDER BY 1
                    """
                )
                #expect(rows == expected.sorted().map { [.integer($0)] }, "\(key)")
                checked += 1
                guard let next = expected.first else { break }
                key = PlainReader.Key(letter: key.letter, offset: next)
            }
        }
        #expect(checked > 1000)
    }

    /// The senses of every 500th word, in order.
    private func checkWords(_ store: Connection, _ files: PlainReader) throws {
        for lemma in files.lemmas.keys.sorted().enumerated().filter({ $0.offset % 500 == 0 }).map(\.element) {
            let rows = try store.rows(
                """
                SELECT s.ZPARTOFSPEECH, s.ZOFFSET, e.ZNUMBER FROM ZWORD w JOIN ZSENSE e ON e.ZWORD = w.Z_PK
                JOIN ZSYNSET s ON e.ZSYNSET = s.Z_PK WHERE w.ZLEMMA = ?1 GROUP BY s.Z_PK ORDER BY MIN(e.Z_FOK_WORD)
                """,
                [.text(lemma)]
            )
            #expect(rows.map { [$0[1], $0[2]] } == files.lemmas[lemma], "\(lemma)")
        }
    }

    private func count(_ store: Connection, _ table: String) throws -> Int {
        guard case .integer(let count)? = try store.rows("SELECT COUNT(*) FROM \(table)").first?.first else { return -1 }
        return Int(count)
    }

    private func counts(_ store: Connection, _ sql: String) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for row in try store.rows(sql) {
            if case .text(let name) = row[0], case .integer(let count) = row[1] { counts[name] = Int(count) }
        }
        return counts
    }
}

/// Reads the files a second way: lines cut at spaces.
// The import, which checks the files, comes first, so each `!` here holds.
private struct PlainReader {
    struct Key: Hashable, CustomStringConvertible {
        let letter: Character
        let offset: Int64

        var description: String { "\(letter)\(offset)" }

        func condition(_ table: String) -> String {
            let letters = letter == "a" ? "('a', 's')" : "('\(letter)')"
            return "\(table).ZPARTOFSPEECH IN \(letters) AND \(table).ZOFFSET = \(offset)"
        }
    }

    struct Line {
        var words: [String] = []
        var hypernyms: [Int64] = []
        var gloss = ""
    }

    private(set) var synsetsByType: [String: Int] = [:]
    private(set) var pointersBySymbol: [String: Int] = [:]
    private(set) var senseCount = 0
    private(set) var frameCount = 0
    private(set) var lexicalPointerCount = 0
    private(set) var lines: [Key: Line] = [:]
    /// The offset and number of each sense, by lemma.
    private(set) var lemmas: [String: [[SQLiteValue]]] = [:]
    private var keys: [Key] = []

    init() throws {
        for (suffix, letter) in [("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")] as [(String, Character)] {
            for line in try Self.lines(of: "data." + suffix) { readData(line, letter) }
            for line in try Self.lines(of: "index." + suffix) { readIndex(line) }
        }
    }

    func sample(every step: Int) -> [Key] {
        stride(from: 0, to: keys.count, by: step).map { keys[$0] }
    }

    private static func lines(of file: String) throws -> [String] {
        try String(contentsOf: realData.appendingPathComponent(file), encoding: .utf8).components(separatedBy: "\n")
            .filter { !$0.hasPrefix("  ") && !$0.isEmpty }
    }

    private mutating func readData(_ text: String, _ letter: Character) {
        let halves = text.components(separatedBy: " | ")
        let fields = halves[0].components(separatedBy: " ")
        let key = Key(letter: letter, offset: Int64(fields[0])!)
        var line = Line()
        line.gloss = halves.dropFirst().joined(separator: " | ").trimmingCharacters(in: .whitespaces)
        synsetsByType[fields[2], default: 0] += 1
        let wordCount = Int(fields[3], radix: 16)!
        senseCount += wordCount
        line.words = (0..<wordCount).map { fields[4 + 2 * $0].replacingOccurrences(of: "_", with: " ") }
        let pointers = 4 + 2 * wordCount
        for index in 0..<Int(fields[pointers])! {
            let pointer = fields[(pointers + 1 + 4 * index)...]
            let (symbol, offset, words) = (pointer[pointer.startIndex], pointer[pointer.startIndex + 1], pointer[pointer.startIndex + 3])
            pointersBySymbol[symbol, default: 0] += 1
            if words != "0000" { lexicalPointerCount += 1 }
            if symbol.hasPrefix("@") { line.hypernyms.append(Int64(offset)!) }
        }
        let frames = pointers + 1 + 4 * Int(fields[pointers])!
        if letter == "v" { frameCount += Int(fields[frames])! }
        lines[key] = line
        keys.append(key)
    }

    private mutating func readIndex(_ text: String) {
        let fields = text.split(separator: " ")
        for (index, offset) in fields.suffix(Int(fields[2])!).enumerated() {
            lemmas[fields[0].replacingOccurrences(of: "_", with: " "), default: []]
                .append([.integer(Int64(offset)!), .integer(Int64(index + 1))])
        }
    }
}
