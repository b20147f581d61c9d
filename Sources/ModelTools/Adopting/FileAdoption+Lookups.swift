/// What Objective-C finds by name: computed properties with `@objc`, which sections, sorts and predicates in memory ask for.
extension FileAdoption {
    /// Reads the property whose `@objc` ends at a token.
    mutating func readComputed(behind attribute: Int) {
        var keyword = attribute + 1
        while keyword < attribute + 16, SourceStructure.modifiers.contains(source[keyword]) { keyword += 1 }
        let modifiers = source.tokens.dropFirst(attribute + 1).prefix(keyword - attribute - 1).map(\.text)
        guard source[keyword] == "var", structure.isMember[keyword], let type = structure.typeOfToken[keyword], isComputed(keyword),
            Set(modifiers).isDisjoint(with: ["private", "fileprivate", "static", "class", "override"])
        else { return }
        computed.append((structure.types[type].name, source[keyword + 1].unquoted))
    }

    /// Whether a body follows the type, and not a value or observers.
    private func isComputed(_ keyword: Int) -> Bool {
        let line = source.tokens[keyword].line
        let near = source.tokens.dropFirst(keyword + 1).prefix(64).prefix { $0.line == line }
        guard let end = near.firstIndex(where: { $0.text == "{" || $0.text == "=" }), source[end] == "{" else { return false }
        return !["willSet", "didSet"].contains(source[end + 1])
    }
}

extension TargetSymbols {
    /// Overrides of `value(forUndefinedKey:)` that know the properties, by class; of `value(forKey:)` for accessors of what the model has, such
    /// as the name of a section that is computed and kept in a transient. A class that has one of its own keeps it.
    func lookups(of properties: [(className: String, name: String)]) -> [(className: String, declaration: String)] {
        let found = Dictionary(grouping: properties, by: \.className).filter { knowsManagedObject($0.key) }
        return found.sorted { $0.key < $1.key }.flatMap { className, properties in
            let names = properties.map(\.name)
            let accessors = names.filter { isModelled($0, in: className) }
            let labels = [("forUndefinedKey", names), ("forKey", accessors)].filter { !$0.1.isEmpty }
            return labels.map { (className, lookup($0, of: $1)) }
        }
    }

    private func lookup(_ label: String, of names: [String]) -> String {
        let cases = names.map { "case \(SwiftNames.literal($0)): return self.\(SwiftNames.quoted($0)) as Any?" }.joined(separator: "; ")
        return
            "public override func value(\(label) key: String) -> Any? { switch key { \(cases); default: return super.value(\(label): key) } }"
    }
}
