import Foundation
import Testing
import WordNetData

@Suite("Damaged WordNet files")
struct DamagedDataTests {
    /// A change to the sample, and what the error must say.
    struct Damage: CustomTestStringConvertible, Sendable {
        let file: String
        let old: String
        let new: String
        let line: Int
        let message: String
        /// Where the error is, when that is not the file that was changed.
        let place: String

        init(_ file: String, _ old: String, _ new: String, line: Int, _ message: String, in place: String? = nil) {
            (self.file, self.old, self.new, self.line, self.message) = (file, old, new, line, message)
            self.place = place ?? file
        }

        var testDescription: String { "\(file): \(old) → \(new)" }
    }

    @Test(
        "are told by file, line and what was expected",
        arguments: [
            Damage("data.noun", "{dog} 05", "0000000x 05", line: 4, "a synset's offset in 8 digits, found \"0000000x\""),
            Damage("data.noun", "{dog} 05", "00000000 05", line: 4, "the line's own offset"),
            Damage("data.noun", "{dog} 05", "1234567 055", line: 4, "a synset's offset in 8 digits, found \"1234567\""),
            Damage("data.noun", " 05 n", " 45 n", line: 4, "a lexicographer's file number"),
            Damage("data.noun", " 05 n", " 05 v", line: 4, "a synset type of data.noun, found \"v\""),
            Damage("data.noun", " 05 n", " 05 é", line: 4, "a synset type"),
            Damage("data.noun", "n 02 dog", "n 0g dog", line: 4, "2 hexadecimal digits, found \"0g\""),
            Damage("data.noun", "n 02 dog", "n 00 dog", line: 4, "a number of words"),
            Damage("data.noun", "n 02 dog", "n 03 dog", line: 4, "a lexical ID in 1 hexadecimal digit"),
            Damage("data.noun", "n 02 dog", "n 01 dog", line: 4, "a number of pointers in 3 digits, found \"domestic_dog\""),
            Damage("data.noun", "dog 0 dom", " dog 0dom", line: 4, "a word, found nothing"),
            Damage("data.noun", "dog a 002", "dog g 002", line: 4, "a lexical ID"),
            Damage("data.noun", "a 002 @", "a 003 @", line: 4, "a pointer symbol, found \"|\""),
            Damage("data.noun", "a 002 @", "a 001 @", line: 4, "the bar before the gloss, found \"+\""),
            Damage("data.noun", "002 @", "002 ?", line: 4, "a pointer symbol, found \"?\""),
            Damage("data.noun", "002 @ {entity} n", "002 @ {entity}0 ", line: 4, "the offset of a pointer's target"),
            Damage("data.noun", "002 @ {entity} n", "002 @ 99999999 n", line: 4, "leads to offset 99999999 in data.noun"),
            Damage("data.noun", "{entity} n 0000 + ", "{entity} x 0000 + ", line: 4, "the part of speech of a pointer's target"),
            Damage("data.noun", "v 0102", "v 0302", line: 4, "a word of this synset, 1 to 2"),
            Damage("data.noun", "v 0102", "v 0002", line: 4, "0000 or a word of this synset"),
            Damage("data.noun", "v 0102", "v 0103", line: 4, "leads to word 3 of the synset"),
            Damage("data.noun", "v 0102", "v 01zz", line: 4, "4 hexadecimal digits, found \"01zz\""),
            Damage("data.noun", "| that", "! that", line: 3, "the bar before the gloss, found \"!\""),
            Damage("data.noun", "| that which is", "that", line: 3, "the bar before the gloss, found \"that\""),
            Damage("data.verb", "0201 02 +", "0201 03 +", line: 3, "the plus sign before a verb frame, found \"|\""),
            Damage("data.verb", "0201 02 +", "0201 02 -", line: 3, "the plus sign before a verb frame, found \"-\""),
            Damage("data.verb", "+ 08 00", "+ 36 00", line: 3, "a verb frame's number"),
            Damage("data.verb", "+ 11 02", "+ 11 03", line: 3, "a word of this synset, 0 to 2, found 3"),
            Damage("data.adj", "capable(p)", "capable(q)", line: 4, "a marker"),
            Damage("data.adj", "capable(p)", "capable_p)", line: 4, "does not contain this lemma", in: "index.adj"),
            Damage("index.noun", "dog n 1", "dog v 1", line: 4, "the letter of the file's part of speech, found \"v\""),
            Damage("index.noun", "dog n 1", "dog n 0", line: 4, "a number of synsets, found \"0\""),
            Damage("index.noun", "dog n 1", "dog n 2", line: 4, "as many senses as synsets, 2, found 1"),
            Damage("index.noun", "dog n 1 2", "dog n 1 9", line: 4, "found nothing"),
            Damage("index.noun", "@ + 1 1", "@ + 1 2", line: 4, "a number of tagged senses"),
            Damage("index.noun", "1 1 {dog}", "1 1 {dog} {dog}", line: 4, "the end of the line, found"),
            Damage("index.noun", "1 1 {dog}", "1 1 00000001", line: 4, "no synset begins there in data.noun"),
            Damage("index.noun", "1 1 {dog}", "1 1 {entity}", line: 4, "does not contain this lemma"),
            Damage("index.noun", "domestic_dog", "aardvark", line: 5, "a lemma that sorts after the line before, found \"aardvark\""),
            Damage("index.adj", "{capable} {able}", "{able} {able}", line: 3, "is listed twice"),
            Damage(
                "index.noun",
                "domestic_dog n 1 1 @ 1 0 {dog}  \n",
                "",
                line: 4,
                "\"domestic dog\" is not listed with this synset",
                in: "data.noun"
            ),
        ]
    )
    func damage(_ damage: Damage) throws {
        let sample = try SampleData(changing: damage.file, damage.old, to: filled(damage.new))
        let error = try #require(throws: WordNetDataError.self) { try sample.lexicon() }
        #expect(error.file == sample.url.appendingPathComponent(damage.place).path)
        #expect(error.line == damage.line)
        #expect(error.message.contains(damage.message), "\(error)")
        #expect(error.description.contains("\(damage.place):\(damage.line): "))
    }

    @Test("that end in the middle of a line are told by that line", arguments: ["data.noun", "data.adv", "index.verb"])
    func truncated(file: String) throws {
        let sample = try SampleData()
        let whole = try Data(contentsOf: sample.url.appendingPathComponent(file))
        let last = whole.split(separator: UInt8(ascii: "\n")).count
        for cut in [1, 2, 10] {
            try whole.dropLast(cut).write(to: sample.url.appendingPathComponent(file))
            let error = try #require(throws: WordNetDataError.self) { try sample.lexicon() }
            #expect(error.file.hasSuffix(file) && error.line == last)
            #expect(error.message == "the file breaks off in the middle of this line")
        }
    }

    @Test("that lost whole lines at their end are told by a line that misses them")
    func lostLines() throws {
        let sample = try SampleData()
        let url = sample.url.appendingPathComponent("data.noun")
        let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        try sample.write(lines.prefix(4).joined(separator: "\n") + "\n", to: "data.noun")
        let error = try #require(throws: WordNetDataError.self) { try sample.lexicon() }
        #expect(error.file.hasSuffix("index.noun") && error.line == 3)
    }

    @Test("never trap, wherever they are cut off or a byte is wrong")
    func hostile() throws {
        let sample = try SampleData()
        for file in ["data.noun", "data.verb", "index.noun"] {
            let url = sample.url.appendingPathComponent(file)
            let whole = try Data(contentsOf: url)
            for position in whole.indices {
                var damaged = whole
                damaged[position] = [UInt8(ascii: "\n"), UInt8(ascii: "9"), 0xff][position % 3]
                try damaged.write(to: url)
                // Only a crash fails here: a changed letter of a gloss is no error.
                _ = try? sample.lexicon()
            }
            try whole.write(to: url)
        }
    }

    @Test("with Windows line ends are told by their first line")
    func windowsLines() throws {
        let sample = try SampleData(changing: "data.verb", "\n", to: "\r\n")
        let error = try #require(throws: WordNetDataError.self) { try sample.lexicon() }
        #expect(error.file.hasSuffix("data.verb") && error.line == 1)
        #expect(error.message == "expected the line to end in LF, found CR LF")
    }

    @Test("that are empty are told", arguments: ["data.noun", "index.adv"])
    func empty(file: String) throws {
        let sample = try SampleData()
        try sample.write("", to: file)
        let error = try #require(throws: WordNetDataError.self) { try sample.lexicon() }
        #expect(error.file.hasSuffix(file) && error.line == 1)
        #expect(error.message == "the file is empty")
    }

    @Test("with a licence and nothing else are told", arguments: ["data.noun", "index.adv"])
    func licenceOnly(file: String) throws {
        let sample = try SampleData()
        try sample.write("  1 A licence.  \n", to: file)
        let error = try #require(throws: WordNetDataError.self) { try sample.lexicon() }
        #expect(error.file.hasSuffix(file) && error.line == 1)
        #expect(error.message.contains("found the end of the file"))
    }

    @Test("that are missing are told by name, without a line", arguments: ["data.adj", "index.verb"])
    func missing(file: String) throws {
        let sample = try SampleData()
        try sample.remove(file)
        let error = try #require(throws: WordNetDataError.self) { try sample.lexicon() }
        #expect(error.file.hasSuffix(file) && error.line == nil)
        #expect(error.description.hasSuffix("\(file): is missing"))
    }

    @Test("in another encoding than UTF-8 are told")
    func latin1() throws {
        let sample = try SampleData()
        let url = sample.url.appendingPathComponent("data.noun")
        var bytes = try Data(contentsOf: url)
        // The sample's only bytes beyond ASCII are the two of its é.
        let index = try #require(bytes.firstIndex { $0 >= 0x80 })
        bytes[index + 1] = UInt8(ascii: " ")
        try bytes.write(to: url)
        let error = try #require(throws: WordNetDataError.self) { try sample.lexicon() }
        #expect(error.line == 5)
        #expect(error.message.contains("a gloss in UTF-8"))
    }

    private func filled(_ text: String) -> String {
        SampleData.offsets.reduce(text) { $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value) }
    }
}
