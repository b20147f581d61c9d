/// What Objective-C finds by name: computed properties with `@objc`, which sections, sorts and predicates in memory ask for.
extension FileAdoption {
    /// Reads the property whose `@objc` ends at a token.
    mutating func readComputed(behind attribute: Int) {
        var keyword = attribute + 1
        while keyword < attribute + 16, SourceStructure.modifiers.contains(source[keyword]) { keyword += 1 }
        let modifiers = source.tokens.dropFirst(attribute + 1).prefix(keyword - attribute - 1).map(\.text)
        guard source[keyword] == "var", structure.isMember[keyword], let type = structure.typeOfToken[keyword], let body = body(keyword),
            Set(modifiers).isDisjoint(with: ["private", "fileprivate", "static", "class", "override"])
        else { return }
        let (className, name) = (structure.types[type].name, source[keyword + 1].unquoted)
        let written = source.tokens[(keyword + 2)..<body].map(\.text).drop { $0 == ":" }.joined()
        computed.append((className, name, value(of: name, written, in: className)))
    }

    /// The brace of the body that follows the type; nil for a value or observers.
    private func body(_ keyword: Int) -> Int? {
        let line = source.tokens[keyword].line
        let near = source.tokens.dropFirst(keyword + 1).prefix(64).prefix { $0.line == line }
        guard let end = near.firstIndex(where: { $0.text == "{" || $0.text == "=" }), source[end] == "{" else { return nil }
        return ["willSet", "didSet"].contains(source[end + 1]) ? nil : end
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
    func lookups(of properties: [(className: String, name: String, value: String)]) -> [(className: String, declaration: String)] {
        let found = Dictionary(grouping: properties, by: \.className).filter { knowsManagedObject($0.key) }
        return found.sorted { $0.key < $1.key }.flatMap { className, properties in
            let accessors = properties.filter { isModelled($0.name, in: className) }
            let labels = [("forUndefinedKey", properties), ("forKey", accessors)].filter { !$0.1.isEmpty }
            return labels.map { (className, lookup($0, of: $1)) }
        }
    }

    private func lookup(_ label: String, of properties: [(className: String, name: String, value: String)]) -> String {
        let cases = properties.map { "case \(SwiftNames.literal($0.name)): return \($0.value)" }.joined(separator: "; ")
        return
            "public override func value(\(label) key: String) -> Any? { switch key { \(cases); default: return super.value(\(label): key) } }"
    }
}
