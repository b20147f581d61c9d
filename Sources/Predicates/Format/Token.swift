/// A word of a format, and where it begins.
struct Token {
    enum Kind: Equatable {
        case name(String)
        /// `#name`: never a keyword.
        case escapedName(String)
        /// `@count` and its like.
        case collectionOperator(String)
        case variable(String)
        case string(String)
        case integer(UInt64)
        case real(Double)
        /// `%@`, `%K`, `%ld`: the letter, without flags and length.
        case argument(Character)
        case symbol(String)
        case end
    }

    let kind: Kind
    let offset: Int

    /// The token as an error message calls it.
    var text: String {
        switch kind {
        case .name(let name): "'\(name)'"
        case .escapedName(let name): "'#\(name)'"
        case .collectionOperator(let name): "'\(name)'"
        case .variable(let name): "'$\(name)'"
        case .string(let text): ExpressionPrinter.quoted(text)
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .argument(let letter): "'%\(letter)'"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end"
        }
    }
}
