/// The relation that a pointer states, by WordNet's symbol for it.
public enum PointerType: String, CaseIterable, Sendable {
    case antonym = "!"
    case hypernym = "@"
    case instanceHypernym = "@i"
    case hyponym = "~"
    case instanceHyponym = "~i"
    case memberHolonym = "#m"
    case substanceHolonym = "#s"
    case partHolonym = "#p"
    case memberMeronym = "%m"
    case substanceMeronym = "%s"
    case partMeronym = "%p"
    case attribute = "="
    case derivation = "+"
    case topicDomain = ";c"
    case topicMember = "-c"
    case regionDomain = ";r"
    case regionMember = "-r"
    case usageDomain = ";u"
    case usageMember = "-u"
    case entailment = "*"
    case cause = ">"
    case alsoSee = "^"
    case verbGroup = "$"
    case similar = "&"
    case participle = "<"
    /// Of an adjective: what it pertains to. Of an adverb: the adjective that it comes from.
    case pertainym = "\\"

    /// The name in words, such as `instance hypernym`.
    public var name: String {
        var words = ""
        for character in String(describing: self) {
            words += character.isUppercase ? " " + character.lowercased() : String(character)
        }
        return words
    }

    private static let byCode = Dictionary(uniqueKeysWithValues: allCases.map { (code($0.rawValue.utf8), $0) })

    init?(symbol: some Collection<UInt8>) {
        guard symbol.count <= 2, let type = Self.byCode[Self.code(symbol)] else { return nil }
        self = type
    }

    private static func code(_ symbol: some Collection<UInt8>) -> UInt16 {
        symbol.reduce(0) { $0 << 8 | UInt16($1) }
    }
}
