extension NSEntityDescription {
    /// All properties, those of superentities first.
    ///
    /// Setting it replaces what is declared here; properties that are inherited are ignored, so that `properties += [x]` does what it says.
    ///
    /// - Precondition: for setting, the names differ and no property belongs to another entity.
    public var properties: [NSPropertyDescription] {
        get { facts?.properties ?? (superentity?.properties ?? []) + declaredProperties }
        set {
            let inherited = superentity?.properties ?? []
            let declared = newValue.filter { property in !inherited.contains { $0 === property } }
            checkOwnership(of: declared)
            declaredProperties.forEach { $0.owner = nil }
            declared.forEach { $0.owner = self }
            declaredProperties = declared
        }
    }

    private func checkOwnership(of properties: [NSPropertyDescription]) {
        var names: Set<String> = []
        for property in properties {
            if let owner = property.owner, owner !== self {
                misuse("Property \(property.path) already belongs to an entity: add a copy of it to \(name ?? "the other entity").")
            }
            if !property.name.isEmpty, !names.insert(property.name).inserted {
                misuse("Entity \(name ?? "") gets two properties named \(property.name): give one of them another name.")
            }
        }
    }

    /// All properties by name, inherited ones included.
    public var propertiesByName: [String: NSPropertyDescription] {
        facts?.propertiesByName ?? Self.byName(properties)
    }

    /// All attributes by name, inherited ones included.
    public var attributesByName: [String: NSAttributeDescription] {
        facts?.attributesByName ?? Self.byName(properties.compactMap { $0 as? NSAttributeDescription })
    }

    /// All relationships by name, inherited ones included.
    public var relationshipsByName: [String: NSRelationshipDescription] {
        facts?.relationshipsByName ?? Self.byName(properties.compactMap { $0 as? NSRelationshipDescription })
    }

    static func byName<Property: NSPropertyDescription>(_ properties: [Property]) -> [String: Property] {
        Dictionary(properties.map { ($0.name, $0) }) { $1 }
    }

    /// The relationships that lead to `entity` itself.
    public func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    /// Groups of properties whose values together differ between any two objects. Set with names or descriptions, read as names.
    ///
    /// - Precondition: for setting, every element is a `String` or a property description.
    public var uniquenessConstraints: [[Any]] {
        get { constraintNames }
        set { constraintNames = newValue.map { $0.map(constraintName) } }
    }

    private func constraintName(_ element: Any) -> String {
        switch element {
        case let name as String: return name
        case let property as NSPropertyDescription: return property.name
        default: misuse("A uniqueness constraint of \(name ?? "") contains \(element): use names or attribute descriptions.")
        }
    }
}

/// `for property in entity` visits all properties, inherited ones included.
extension NSEntityDescription: Sequence {
    public func makeIterator() -> IndexingIterator<[NSPropertyDescription]> { properties.makeIterator() }
}
