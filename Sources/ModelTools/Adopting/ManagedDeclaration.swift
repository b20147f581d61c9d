/// What stands behind an `@NSManaged`.
enum ManagedDeclaration {
    case property(ManagedProperty)
    case method(ManagedMethod)

    /// A property and its type as it is written.
    struct ManagedProperty {
        let name: String
        let type: String
        let place: SourcePlace
    }

    struct ManagedMethod {
        let name: String
        let parameters: [Parameter]
        let place: SourcePlace
    }

    struct Parameter {
        /// What a call names it; an underscore for nothing.
        let label: String
        /// What the body calls it.
        let name: String
        let type: String
    }
}

/// Reads declarations in Swift source, as far as `@NSManaged` allows them.
struct DeclarationReader {
    let source: SwiftTokens
    private var index: Int
    /// Where the attribute is.
    private let place: SourcePlace

    /// - Parameter index: that of the first token after the attribute.
    init(_ source: SwiftTokens, at index: Int, place: SourcePlace) {
        self.source = source
        self.index = index
        self.place = place
    }

    private var token: SwiftTokens.Token? { index < source.tokens.count ? source.tokens[index] : nil }

    /// An error behind the last token that was taken.
    private func error(_ reason: String) -> SourceProblem {
        SourceProblem(place: index > 0 ? source.tokens[min(index, source.tokens.count) - 1].place : place, text: reason)
    }

    /// Gives the declaration and the place of the byte behind it.
    mutating func declaration() throws -> (declaration: ManagedDeclaration, end: Int) {
        // Attributes and modifiers.
        while let token, !["var", "func"].contains(token.text), !Self.isForeign(token.text) { try skipGroup(token) }
        switch token?.text {
        case "var"?: return try property()
        case "func"?: return try method()
        default: throw error("@NSManaged is for properties and methods of classes")
        }
    }

    private static func isForeign(_ word: String) -> Bool {
        ["let", "class", "struct", "enum", "extension", "protocol", "actor", "init", "{", "}", ";"].contains(word)
    }

    private mutating func skipGroup(_ token: SwiftTokens.Token) throws {
        index += 1
        if token.text == "(" { _ = try type(until: [")"]) }
    }

    private mutating func name() throws -> String {
        guard let token, token.text.first?.isLetter == true || "_`".contains(token.text.prefix(1)) else { throw error("A name is missing") }
        index += 1
        return token.text.filter { $0 != "`" }
    }

    private mutating func expect(_ text: String, _ reason: String) throws {
        guard token?.text == text else { throw error(reason) }
        index += 1
    }

    private mutating func property() throws -> (declaration: ManagedDeclaration, end: Int) {
        let place = token?.place ?? self.place
        index += 1
        let name = try name()
        try requireAlone(name)
        try expect(":", "The type of \(name) is missing")
        let (type, end) = try type(until: [";", "}", "{", "=", ","])
        guard !type.isEmpty else { throw error("The type of \(name) is missing") }
        try requireAlone(name)
        if let token, ["{", "="].contains(token.text), isOnSameLine(token) {
            throw error("\(name) has accessors or a value, which @NSManaged does not allow")
        }
        return (.property(.init(name: name, type: type, place: place)), end)
    }

    /// `var a: Int, b: Int` has no copy: bodies that belong to such a declaration are none of Swift's.
    private func requireAlone(_ name: String) throws {
        guard token?.text == "," else { return }
        throw error("\(name) is declared with others: give each an `@NSManaged var` of its own, which a Mac takes, too")
    }

    private mutating func method() throws -> (declaration: ManagedDeclaration, end: Int) {
        let place = token?.place ?? self.place
        index += 1
        let name = try name()
        try expect("(", "Method \(name) has no parameters")
        var parameters: [ManagedDeclaration.Parameter] = []
        while token?.text != ")" {
            if parameters.count > 64 { throw error("Method \(name) has too many parameters") }
            parameters.append(try parameter(of: name))
            if token?.text == "," { index += 1 }
        }
        let end = token?.range.upperBound ?? source.bytes.count
        index += 1
        if let token, ["-", "throws", "async", "{", "where"].contains(token.text), isOnSameLine(token) {
            throw error("Method \(name) has a result, an effect or a body: @NSManaged is for the methods that change a to-many")
        }
        return (.method(.init(name: name, parameters: parameters, place: place)), end)
    }

    private mutating func parameter(of method: String) throws -> ManagedDeclaration.Parameter {
        let label = try name()
        let name = token?.text == ":" ? label : try name()
        try expect(":", "A parameter of \(method) has no type")
        let type = try type(until: [",", ")"]).text
        return .init(label: label, name: name, type: type)
    }

    private func isOnSameLine(_ token: SwiftTokens.Token) -> Bool { index > 0 && source.tokens[index - 1].line == token.line }

    /// The text up to one of the signs outside of all brackets, or to the end of the line outside of them.
    private mutating func type(until ends: Set<String>) throws -> (text: String, end: Int) {
        var (depth, text, end) = (0, "", index > 0 ? source.tokens[index - 1].range.upperBound : 0)
        let limit = index + SourceStructure.reach / 4
        while let token, index < limit {
            let isNewLine = !text.isEmpty && !ends.contains(")") && !isOnSameLine(token)
            if depth == 0, ends.contains(token.text) || isNewLine { return (text, end) }
            depth += "([<".contains(token.text) ? 1 : ")]>".contains(token.text) ? -1 : 0
            guard depth >= 0 else { throw error("A bracket is closed that was not opened") }
            (text, end) = (text + (["any", "some"].contains(token.text) ? token.text + " " : token.text), token.range.upperBound)
            index += 1
        }
        guard depth == 0, !ends.contains(")") else { throw SourceProblem(place: place, text: "A bracket is not closed") }
        return (text, end)
    }
}
