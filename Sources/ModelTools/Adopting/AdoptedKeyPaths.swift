/// An `@NSManaged` property as a key path from another file sees it.
struct AdoptedProperty {
    let className, name: String
    /// The type as it is written.
    let type: String
    /// Whether the property, or the class or extension that it stands in, says `nonisolated`.
    let isNonisolated: Bool
}

extension FileAdoption {
    /// What another file can make a key path of; nil for what is private, an actor's or deprecated.
    func adoptedProperty(_ property: ManagedDeclaration.ManagedProperty, at attribute: Int) -> AdoptedProperty? {
        guard let type = structure.typeOfToken[attribute], structure.isMember[attribute],
            let keyword = source.tokens[attribute...].prefix(32).firstIndex(where: { $0.text == "var" })
        else { return nil }
        let words = structure.words(before: keyword) + structure.words(before: structure.types[type].keyword)
        let isSeen = words.allSatisfy { word, inside in
            Self.harmless.contains(word) || ["private", "fileprivate"].contains(word) && inside.map { source[$0] } == ["set"]
        }
        guard isSeen else { return nil }
        return AdoptedProperty(
            className: structure.types[type].name,
            name: property.name,
            type: property.type,
            isNonisolated: words.contains { $0.word == "nonisolated" }
        )
    }

    private static let harmless: Set = [
        "NSManaged", "objc", "nonobjc", "objcMembers", "public", "internal", "open", "package", "final", "dynamic", "override",
        "nonisolated",
    ]
}

/// The names of adopted classes' key paths, as generated classes have them.
///
/// A table stands at the topmost class of a family, since extensions override nothing, and has the classes below it too. It is in a file of
/// its own: of a property with a private setter that file makes the key path that all files but the property's do.
///
/// NB: in a target whose default isolation is the main actor a class of managed objects compiles only as `nonisolated`. Where it says so, what
/// does not is the main actor's, and has no key path elsewhere.
struct AdoptedKeyPaths {
    private let properties: [String: [AdoptedProperty]]
    private let symbols: TargetSymbols

    init(_ properties: [AdoptedProperty], _ symbols: TargetSymbols) {
        self.symbols = symbols
        self.properties = Dictionary(grouping: properties.filter(symbols.answersStore), by: \.className)
    }

    /// Extensions of the classes, in order.
    var declarations: [String] {
        let families = Dictionary(grouping: symbols.families, by: \.top).sorted { $0.key < $1.key }
        return families.flatMap { top, members in declaration(top, members.map(\.line).sorted { $0[0] < $1[0] }) }
    }

    private func declaration(_ top: String, _ lines: [[String]]) -> [String] {
        guard lines.allSatisfy({ symbols.canBeNamed($0[0]) }) else { return [] }
        let names = lines.flatMap { line in
            Set(line.flatMap { properties[$0] ?? [] }.filter { !symbols.isNonisolated($0.className) || $0.isNonisolated }.map(\.name))
                .sorted()
                .map { name in
                    let key = SwiftNames.literal(symbols.key(of: name, in: line[0]))
                    return "        names[\\\(SwiftNames.quoted(line[0])).\(SwiftNames.quoted(name))] = \(key)"
                }
        }
        if names.isEmpty { return [] }
        return ["", "nonisolated extension \(SwiftNames.quoted(top)): KeyPathNaming {"]
            + ["    public static var keyPathNames: [AnyKeyPath: String] {", "        var names: [AnyKeyPath: String] = [:]"]
            + names + ["        return names", "    }", "}"]
    }
}

extension TargetSymbols {
    /// The adopted classes of managed objects: each with the classes that it inherits from, itself first, and the topmost of them.
    var families: [(top: String, line: [String])] {
        classes.keys.compactMap { name in
            var line = [name]
            while let above = parents[line[line.count - 1]], above != "NSManagedObject" {
                guard !line.contains(above) else { return nil }
                line.append(above)
            }
            let top = line[line.count - 1]
            return parents[top] == nil ? nil : (top, line)
        }
    }

    /// Whether a file of its own may say the names of the class's key paths: it sees the class, and nobody else says them.
    func canBeNamed(_ className: String) -> Bool {
        let isSaid = lineage(of: className).contains { $0 == "KeyPathNaming" || modelledClasses.contains($0) }
        return !isSaid && !hidden.contains(className) && !className.contains(".")
    }

    /// Whether a store and Swift mean the same by a property's value: a number that stands for a case or a date, or what is transformed or
    /// only in memory, is left to memory.
    func answersStore(_ property: AdoptedProperty) -> Bool {
        let type = property.type.trimmingSuffix("?").trimmingSuffix("!")
        if ["Type", "Protocol", "Self"].contains(property.name) { return false }
        let isValue = ManagedAccessors.scalars.contains(type) || Self.values.contains(type)
        guard let (entity, family) = entity(of: property.className) else {
            let isObject = classes[type] != nil || generatedClasses.contains(type) || ownClasses[type] != nil
            return isValue && !property.name.hasPrefix("primitive") || isObject || Self.isCollection(type)
        }
        let key = key(of: property.name, in: property.className)
        if family.relationship(key, of: entity) != nil { return true }
        return isValue && family.attribute(key, of: entity)?.isTransient == false
    }

    private static let values: Set = ["String", "Date", "Data", "UUID", "URL", "Decimal", "NSNumber", "NSDecimalNumber"]

    private static func isCollection(_ type: String) -> Bool {
        type == "NSSet" || type == "NSOrderedSet" || type.hasPrefix("Set<")
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
