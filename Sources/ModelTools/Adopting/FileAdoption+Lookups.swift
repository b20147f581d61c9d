/// What Objective-C may find by name.
struct ComputedProperty {
    /// The class, and what key-value coding calls the property.
    let className, key: String
    /// What it gives.
    let value: String
    /// Whether `@objc` stands before it, or before its extension.
    let isMarked: Bool
}

/// What Objective-C finds by name: computed properties with `@objc`, which sections, sorts and predicates in memory ask for.
extension FileAdoption {
    mutating func readVariable(at keyword: Int) {
        guard structure.isMember[keyword], let type = structure.typeOfToken[keyword], let body = body(keyword) else { return }
        let (declaration, words) = (structure.types[type], structure.words(before: keyword))
        guard Self.unseen.isDisjoint(with: words.filter(\.inside.isEmpty).map(\.word)) else { return }
        let written = source.tokens[(keyword + 2)..<body].map(\.text).drop { $0 == ":" }.joined()
        let name = source[keyword + 1].unquoted
        computed.append(
            ComputedProperty(
                className: declaration.name,
                key: symbols.key(of: name, in: declaration.name),
                value: value(of: name, written, in: declaration.name),
                isMarked: (words + extensionWords(declaration)).contains { $0.word == "objc" }
            )
        )
    }

    /// What an extension says of all its members.
    private func extensionWords(_ type: SourceStructure.TypeDeclaration) -> [(word: String, inside: Range<Int>)] {
        type.isExtension ? structure.words(before: type.keyword) : []
    }

    /// What keeps Objective-C, or a method that may be called anywhere, from a property.
    private static let unseen: Set = ["private", "fileprivate", "static", "class", "override", "nonobjc", "MainActor"]

    /// The brace of the body that follows the type; nil for a value, observers, and what cannot be read at once.
    private func body(_ keyword: Int) -> Int? {
        let line = source.tokens[keyword].line
        let near = source.tokens.dropFirst(keyword + 1).prefix(64).prefix { $0.line == line }
        guard let end = near.firstIndex(where: { $0.text == "{" || $0.text == "=" }), source[end] == "{" else { return nil }
        let hasEffect = source[end + 1] == "get" && ["async", "throws"].contains(source[end + 2])
        return hasEffect || ["willSet", "didSet"].contains(source[end + 1]) ? nil : end
    }

    /// What Objective-C has for the value: a number for numbers and for its enumerations.
    private func value(of name: String, _ type: String, in className: String) -> String {
        let value = "self.\(SwiftNames.quoted(name))"
        if Self.numbers.contains(type) { return "NSNumber(value: \(value))" }
        guard let rawType = symbols.rawType(of: type, in: className), Self.numbers.contains(rawType) else { return "\(value) as Any?" }
        return "NSNumber(value: \(value).rawValue)"
    }

    private static let numbers = ManagedAccessors.scalars.union(["TimeInterval", "Int8", "UInt", "UInt8", "UInt16", "UInt32", "UInt64"])
}

extension TargetSymbols {
    /// Overrides of `value(forUndefinedKey:)` that know the properties, by class; of `value(forKey:)` for accessors of what the model has, such
    /// as the name of a section that is computed and kept in a transient. A class that has one of its own keeps it.
    func lookups(of properties: [ComputedProperty]) -> [(className: String, declaration: String)] {
        let seen = properties.filter { $0.isMarked || showsMembers($0.className) }
        let found = Dictionary(grouping: seen, by: \.className).filter { knowsManagedObject($0.key) }
        return found.sorted { $0.key < $1.key }.flatMap { className, properties in
            let accessors = properties.filter { isModelled($0.key, in: className) }
            let labels = [("forUndefinedKey", properties), ("forKey", accessors)].filter { !$0.1.isEmpty }
            return labels.map { (className, lookup($0, of: $1)) }
        }
    }

    private func lookup(_ label: String, of properties: [ComputedProperty]) -> String {
        let cases = properties.map { "case \(SwiftNames.literal($0.key)): return \($0.value)" }.joined(separator: "; ")
        return
            "public override func value(\(label) key: String) -> Any? { switch key { \(cases); default: return super.value(\(label): key) } }"
    }
}
