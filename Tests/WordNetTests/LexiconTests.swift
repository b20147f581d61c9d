import Foundation
import Testing

@testable import WordNetData

@Suite("A lexicon")
struct LexiconTests {
    private let lexicon: Lexicon

    init() throws {
        lexicon = try SampleData().lexicon()
    }

    @Test("has a synset for each line of the data files, with its gloss to the end of the line")
    func synsets() {
        #expect(lexicon.synsets.map(\.partOfSpeech) == [.noun, .noun, .noun, .verb, .adjective, .satellite, .adverb])
        #expect(lexicon.synsets.map(\.lexicographerFile) == [3, 5, 10, 38, 0, 0, 2])
        #expect(lexicon.string(lexicon.synsets[1].gloss) == "a beast | \"the dog barked\"")
        #expect(lexicon.string(lexicon.synsets[2].gloss) == "the first letter: é")
        #expect(lexicon.synsets.prefix(3).map(\.offset) == ["entity", "dog", "letter"].map { Int32(SampleData.offsets[$0] ?? "") })
    }

    @Test("spells senses as the synset does: spaces for underscores, markers apart")
    func senses() {
        #expect(
            lexicon.senses.map { lexicon.string($0.text) }
                == ["entity", "dog", "domestic dog", "A", "a", "chase", "dog", "able", "capable", "able", "ably"]
        )
        #expect(lexicon.senses.map(\.marker) == [nil, nil, nil, nil, nil, nil, nil, nil, .predicative, nil, nil])
        #expect(lexicon.senses.map(\.lexicalID) == [0, 0, 10, 0, 0, 0, 1, 0, 0, 1, 0])
        #expect(lexicon.synsets[1].senses == 1..<3)
        #expect(lexicon.senses.map(\.synset) == [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6])
    }

    @Test("numbers a word's senses per part of speech, as the index orders them")
    func senseNumbers() throws {
        #expect(try word("able").senses == [9, 7])
        #expect(lexicon.senses[9].number == 1 && lexicon.senses[7].number == 2)
        #expect(lexicon.senses[9].isTagged && !lexicon.senses[7].isTagged)
        #expect(try word("dog").senses == [1, 6])
        #expect(lexicon.senses[1].number == 1 && lexicon.senses[6].number == 1)
    }

    @Test("gives two spellings of a word in one synset the same word and number")
    func spellings() throws {
        #expect(try word("a").senses == [3, 4])
        #expect(lexicon.senses[3].number == 1 && lexicon.senses[4].number == 1)
    }

    @Test("has each word once, whatever its parts of speech")
    func words() {
        #expect(
            lexicon.words.map { lexicon.string($0.lemma) }
                == ["a", "dog", "domestic dog", "entity", "chase", "able", "capable", "ably"]
        )
        #expect(lexicon.senses.map { lexicon.string(lexicon.words[Int($0.word)].lemma) }.count { $0 == "dog" } == 2)
    }

    @Test("resolves pointers to synsets and, where they are lexical, to senses")
    func pointers() {
        let pointers = lexicon.pointers.map { pointer in
            let senses = [pointer.sourceSense, pointer.targetSense].map { $0.map(String.init) ?? "-" }.joined(separator: " ")
            return "\(pointer.type) \(pointer.source) \(pointer.target) \(senses)"
        }
        #expect(
            pointers.sorted() == [
                "derivation 1 3 1 6", "derivation 3 1 6 1", "hypernym 1 0 - -", "hypernym 2 0 - -", "hyponym 0 1 - -",
                "pertainym 6 4 10 7", "similar 4 5 - -", "similar 5 4 - -",
            ]
        )
    }

    @Test("has a verb's frames, for all words or for one")
    func frames() {
        #expect(lexicon.frames.map(\.number) == [8, 11])
        #expect(lexicon.frames.map(\.synset) == [3, 3])
        #expect(lexicon.frames.map(\.sense) == [nil, 6])
    }

    @Test("counts its rows")
    func rowCount() {
        #expect(lexicon.rowCount == 7 + 8 + 11 + 8 + 2)
    }

    @Test(
        "knows every symbol by its name",
        arguments: [
            (PointerType.hypernym, "hypernym"), (.instanceHyponym, "instance hyponym"), (.alsoSee, "also see"),
        ]
    )
    func names(type: PointerType, name: String) {
        #expect(type.name == name)
        #expect(PointerType(symbol: type.rawValue.utf8) == type)
    }

    private func word(_ lemma: String) throws -> Lexicon.Word {
        try #require(lexicon.words.first { lexicon.string($0.lemma) == lemma })
    }
}
