/// The types of a Swift file and which tokens stand in them.
struct SourceStructure {
    let source: SwiftTokens
    let blocks: ConditionalBlocks
    private(set) var types: [TypeDeclaration] = []
    /// For each token the innermost type that it is in; nil outside of all.
    private(set) var typeOfToken: [Int?] = []
    /// For each bracket that is closed the index of the one that closes it.
    private let closings: [Int: Int]
    /// For each token whether it is in the type's body itself and not in a member's.
    private(set) var isMember: [Bool] = []

    struct TypeDeclaration {
        let isExtension, isClass: Bool
        /// Whether it stands in a function.
        let isLocal: Bool
        /// With the types that it is nested in, dots between.
        let name: String
        /// The indexes of the keyword and of the opening brace.
        let keyword, brace: Int
        /// What stands behind the name: superclass and protocols.
        let inherited: [String]
        /// What `@objc(Name)` calls it.
        let objectiveCName: String?
    }

    init(_ text: String) {
        source = SwiftTokens(text)
        blocks = ConditionalBlocks(source)
        closings = Self.closings(in: source)
        readTypes()
    }

    private static func closings(in source: SwiftTokens) -> [Int: Int] {
        var (open, found): ([Int], [Int: Int]) = ([], [:])
        for index in source.tokens.indices {
            switch source[index] {
            case "(", "[", "{": open.append(index)
            case ")", "]", "}": if let start = open.popLast() { found[start] = index }
            default: break
            }
        }
        return found
    }

    /// How many tokens are looked at where a few are right: a damaged file must not take long.
    static let reach = 1_000

    /// Words that stand before the name of a declaration or instead of it.
    static let modifiers: Set = [
        "public", "private", "fileprivate", "internal", "open", "package", "final", "override", "static", "class", "dynamic", "lazy",
        "weak",
        "unowned", "required", "convenience", "nonisolated", "mutating", "optional", "indirect",
    ]
    private static let keywords: Set = ["class", "struct", "enum", "extension", "protocol", "actor"]

    /// What a pair of braces encloses.
    private struct Scope {
        let isType: Bool
        /// The innermost type.
        let type: Int?
    }

    private mutating func readTypes() {
        var (scopes, waiting): ([Scope], (keyword: Int, name: String, inherited: [String])?) = ([], nil)
        for index in source.tokens.indices {
            typeOfToken.append(scopes.last?.type)
            isMember.append(scopes.last?.isType ?? false)
            guard blocks.isActive[index] else { continue }
            switch source[index] {
            case "{":
                let isLocal = scopes.last?.isType == false
                scopes.append(waiting == nil ? Scope(isType: false, type: scopes.last?.type) : Scope(isType: true, type: types.count))
                if let found = waiting { types.append(declaration(found.keyword, found.name, brace: index, found.inherited, isLocal)) }
                waiting = nil
            case "}": _ = scopes.popLast()
            default: if let name = typeName(at: index) { waiting = (index, name, inherited(behind: index)) }
            }
        }
    }

    private func declaration(_ keyword: Int, _ name: String, brace: Int, _ inherited: [String], _ isLocal: Bool) -> TypeDeclaration {
        let outer = typeOfToken[keyword].map { types[$0].name + "." } ?? ""
        // Nobody nests types that deep.
        let prefix = outer.utf8.count < Self.reach ? outer : ""
        return TypeDeclaration(
            isExtension: source[keyword] == "extension",
            isClass: source[keyword] == "class",
            isLocal: isLocal,
            name: prefix + name,
            keyword: keyword,
            brace: brace,
            inherited: inherited,
            objectiveCName: objectiveCName(before: keyword)
        )
    }

    /// The name in the `@objc(Name)` among the attributes and modifiers that end before a keyword.
    func objectiveCName(before keyword: Int) -> String? {
        words(before: keyword).first { $0.word == "objc" && !$0.inside.isEmpty }.map {
            source.tokens[$0.inside].map(\.text).joined().unquoted
        }
    }

    /// The attributes and modifiers that end before a keyword, the nearest first, with what stands in their parentheses.
    func words(before keyword: Int) -> [(word: String, inside: Range<Int>)] {
        var (found, end): ([(word: String, inside: Range<Int>)], Int) = ([], keyword - 1)
        while end >= max(0, keyword - 64) {
            let start = source[end] == ")" ? opening(end) ?? end : end
            let word = start < end ? start - 1 : end
            guard word >= 0, source[word - 1] == "@" || Self.modifiers.contains(source[word]) else { break }
            found.append((source[word], start < end ? (start + 1)..<end : end..<end))
            end = word - (source[word - 1] == "@" ? 2 : 1)
        }
        return found
    }

    /// The index of the parenthesis that the one at a token closes, if it is near: attributes are short.
    func opening(_ index: Int) -> Int? {
        var depth = 0
        for place in stride(from: index, through: max(0, index - 64), by: -1) {
            depth += source[place] == ")" ? 1 : source[place] == "(" ? -1 : 0
            if depth == 0 { return place }
        }
        return nil
    }

    /// The name of the type that is declared by the keyword at a token.
    private func typeName(at index: Int) -> String? {
        guard Self.keywords.contains(source[index]), ![".", ":", ",", "import", "<"].contains(source[index - 1]) else { return nil }
        let next = source[index + 1]
        guard next.isName, !Self.modifiers.contains(next), !["func", "var", "let", "subscript", "init"].contains(next) else { return nil }
        var (name, place) = (next.unquoted, index + 2)
        while source[place] == ".", source[place + 1].isName {
            name += "." + source[place + 1].unquoted
            place += 2
        }
        return name
    }

    /// The names between a type's name and its body, those of generic arguments and conditions too.
    private func inherited(behind index: Int) -> [String] {
        source.tokens[(index + 2)...].prefix(Self.reach).prefix { $0.text != "{" && $0.text != "}" }.map(\.text).filter(\.isName)
    }
}

extension SourceStructure {
    /// The first token of the declaration whose word stands at `index`: attributes with arguments and modifiers are a part of it.
    func modifierIndexes(around index: Int) -> (before: [Int], keyword: Int) {
        var (before, first): ([Int], Int) = ([], index - 1)
        while first >= 0, before.count < 16, Self.modifiers.contains(source[first]), isMember[first] == isMember[index] {
            before.insert(first, at: 0)
            first -= 1
        }
        var keyword = index + 1
        while before.count < 32, Self.modifiers.contains(source[keyword]) {
            before.append(keyword)
            keyword += 1
        }
        return (before, keyword)
    }

    /// The index of the bracket that closes the one at a token; that of the last token where none does.
    func closing(_ index: Int) -> Int { closings[index] ?? max(source.tokens.count - 1, 0) }
}

extension String {
    var isName: Bool { first.map { $0.isLetter || $0 == "_" || $0 == "`" } ?? false }
    var unquoted: String { filter { $0 != "`" } }
}
