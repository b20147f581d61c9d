/// The kind of a synset, by WordNet's letter for it.
public enum PartOfSpeech: String, CaseIterable, Sendable {
    case noun = "n"
    case verb = "v"
    case adjective = "a"
    /// An adjective in the cluster of another, its head. Satellites share the adjectives' files.
    case satellite = "s"
    case adverb = "r"

    public var name: String {
        switch self {
        case .noun: "noun"
        case .verb: "verb"
        case .adjective: "adjective"
        case .satellite: "satellite adjective"
        case .adverb: "adverb"
        }
    }

    /// The part of speech that the senses of a word are numbered within: that of a satellite is adjective.
    public var indexed: PartOfSpeech { self == .satellite ? .adjective : self }

    /// The files that hold it.
    var category: Category {
        switch self {
        case .noun: .noun
        case .verb: .verb
        case .adjective, .satellite: .adjective
        case .adverb: .adverb
        }
    }

    init?(letter: UInt8) {
        self.init(rawValue: String(UnicodeScalar(letter)))
    }
}

/// One of the four pairs of files, in the order in which a word's senses are listed.
enum Category: Int, CaseIterable {
    case noun, verb, adjective, adverb

    private var suffix: String {
        switch self {
        case .noun: "noun"
        case .verb: "verb"
        case .adjective: "adj"
        case .adverb: "adv"
        }
    }

    var dataFile: String { "data." + suffix }
    var indexFile: String { "index." + suffix }

    /// The letter that the index file carries on every line.
    var letter: UInt8 {
        switch self {
        case .noun: UInt8(ascii: "n")
        case .verb: UInt8(ascii: "v")
        case .adjective: UInt8(ascii: "a")
        case .adverb: UInt8(ascii: "r")
        }
    }
}
