/// Words that stand for themselves only behind a `#`.
enum ReservedWord: String {
    case and, or, not, all, any, someOf = "some", noneOf = "none", `in`, like, matches, contains, beginswith, endswith, between
    case null, `nil`, `self`, `true`, yes, `false`, no, anykey, truepredicate, falsepredicate

    init?(word: some StringProtocol) {
        self.init(rawValue: word.lowercased())
    }

    static func contains(_ word: some StringProtocol) -> Bool { ReservedWord(word: word) != nil }

    var comparison: NSComparisonPredicate.Operator? {
        switch self {
        case .in: .in
        case .like: .like
        case .matches: .matches
        case .contains: .contains
        case .beginswith: .beginsWith
        case .endswith: .endsWith
        case .between: .between
        default: nil
        }
    }
}

/// How tightly an infix operator binds; the greater, the tighter.
enum Precedence {
    static let or = 1
    static let and = 2
    static let not = 3
    static let comparison = 4
    static let set = 5
    static let bitwiseOr = 6
    static let bitwiseXor = 7
    static let bitwiseAnd = 8
    static let shift = 9
    static let sum = 10
    static let product = 11
    static let power = 12
    static let prefix = 13
}

/// A predefined function of two values that has an operator.
struct InfixFunction {
    let symbol: String
    let name: String
    let precedence: Int
    var isRightAssociative = false

    static let all = [
        InfixFunction(symbol: "+", name: "add:to:", precedence: Precedence.sum),
        InfixFunction(symbol: "-", name: "from:subtract:", precedence: Precedence.sum),
        InfixFunction(symbol: "*", name: "multiply:by:", precedence: Precedence.product),
        InfixFunction(symbol: "/", name: "divide:by:", precedence: Precedence.product),
        InfixFunction(symbol: "**", name: "raise:toPower:", precedence: Precedence.power, isRightAssociative: true),
        InfixFunction(symbol: "&", name: "bitwiseAnd:with:", precedence: Precedence.bitwiseAnd),
        InfixFunction(symbol: "|", name: "bitwiseOr:with:", precedence: Precedence.bitwiseOr),
        InfixFunction(symbol: "^", name: "bitwiseXor:with:", precedence: Precedence.bitwiseXor),
        InfixFunction(symbol: "<<", name: "leftshift:by:", precedence: Precedence.shift),
        InfixFunction(symbol: ">>", name: "rightshift:by:", precedence: Precedence.shift),
    ]

    private static let bySymbol = Dictionary(uniqueKeysWithValues: all.map { ($0.symbol, $0) })
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    static func symbol(_ symbol: String) -> InfixFunction? { bySymbol[symbol] }
    static func named(_ name: String) -> InfixFunction? { byName[name] }
}
