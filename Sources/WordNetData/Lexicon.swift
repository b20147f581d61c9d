/// All of WordNet in flat arrays: what the data and index files say, checked against each other, ready to be imported.
///
/// Rows name each other by their index in these arrays. Texts lie in one arena and become strings when they are asked for.
public struct Lexicon: Sendable {
    /// A set of synonyms: one meaning.
    public struct Synset: Sendable {
        public let partOfSpeech: PartOfSpeech
        /// The byte offset of its line in the data file: with the part of speech, its name in WordNet.
        public let offset: Int32
        /// The number of the lexicographer's file that it comes from, 0 to 44.
        public let lexicographerFile: Int16
        public let gloss: Text
        /// Its senses, in the order of the data file.
        public let senses: Range<Int32>
    }

    /// A word of the index files, in lower case, whatever its parts of speech.
    public struct Word: Sendable {
        public let lemma: Text
        /// Its senses: nouns, verbs, adjectives, adverbs, and by sense number within each.
        public internal(set) var senses: [Int32]
    }

    /// A word in a synset.
    public struct Sense: Sendable {
        public let synset: Int32
        public internal(set) var word: Int32
        /// The word as this synset spells it.
        public let text: Text
        /// From 1, per word and part of speech. Two spellings of a word in one synset share a number.
        public internal(set) var number: Int16
        /// Whether the sense occurs in the texts whose counts order the senses.
        public internal(set) var isTagged: Bool
        /// Tells apart the senses of a word within a lexicographer's file.
        public let lexicalID: Int16
        public let marker: Marker?
    }

    /// Where an adjective may stand.
    public enum Marker: String, CaseIterable, Sendable {
        case predicative = "p"
        case prenominal = "a"
        case postnominal = "ip"
    }

    /// A relation between two synsets or, when it names senses, between two words.
    public struct Pointer: Sendable {
        public let type: PointerType
        public let source: Int32
        public let target: Int32
        public let sourceSense: Int32?
        public let targetSense: Int32?

        /// The later of its two synsets.
        public var laterEnd: Int32 { max(source, target) }
    }

    /// A sentence frame that a verb fits: one of its senses or, without one, all words of the synset.
    public struct Frame: Sendable {
        /// WordNet's number for the frame, 1 to 35.
        public let number: Int16
        public let synset: Int32
        public let sense: Int32?
    }

    public internal(set) var synsets: [Synset] = []
    public internal(set) var words: [Word] = []
    public internal(set) var senses: [Sense] = []
    /// Ordered by their later ends: whoever walks the synsets has both ends of each pointer when its turn comes.
    public internal(set) var pointers: [Pointer] = []
    /// Ordered by their synsets.
    public internal(set) var frames: [Frame] = []
    var texts = TextArena()

    public var rowCount: Int { synsets.count + words.count + senses.count + pointers.count + frames.count }

    public func string(_ text: Text) -> String {
        withUTF8(text) { String(decoding: $0, as: UTF8.self) }
    }

    /// The UTF-8 bytes of a text, valid during the call.
    public func withUTF8<Result>(_ text: Text, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try texts.withUTF8(text, body)
    }
}
