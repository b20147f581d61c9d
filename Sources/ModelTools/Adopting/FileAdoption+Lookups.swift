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
    /// Overrides of `value(forUndefinedKey:)` that know the properties, by class. A class that has one of its own keeps it.
    func lookups(of properties: [(className: String, name: String)]) -> [(className: String, declaration: String)] {
        let found = Dictionary(grouping: properties, by: \.className).filter { knowsManagedObject($0.key) }
        return found.sorted { $0.key < $1.key }.map { className, properties in
            let cases = properties.map { "case \(SwiftNames.literal($0.name)): return self.\(SwiftNames.quoted($0.name)) as Any?" }
            return (
                className,
                "public override func value(forUndefinedKey key: String) -> Any? { switch key { \(cases.joined(separator: "; ")); "
                    + "default: return super.value(forUndefinedKey: key) } }"
            )
        }
    }
}
