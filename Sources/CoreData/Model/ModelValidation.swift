/// What is wrong with a model, in sentences that name entity, property and cure.
extension NSManagedObjectModel {
    /// - Throws: `CocoaError.coreData` for a model that cannot be used. For models that come from a file; `freeze()` traps.
    func validate() throws {
        if let problem = problems().first { throw CocoaError.coreData(.coreData, problem) }
    }

    func problems() -> [String] {
        entities.flatMap { entity in
            treeProblems(of: entity) + nameProblems(of: entity) + entity.declaredProperties.flatMap(problems(of:))
                + constraintProblems(of: entity)
        }
    }

    private func treeProblems(of entity: NSEntityDescription) -> [String] {
        ([entity.superentity].compactMap { $0 } + entity.subentities).filter { $0.model !== self }.map {
            "Entity \($0.name ?? "") is related to \(entity.name ?? "") by inheritance but is not in the model: add it to `entities`."
        }
    }

    private func nameProblems(of entity: NSEntityDescription) -> [String] {
        var problems: [String] = []
        if !isIdentifier(entity.name ?? "") { problems.append(nameProblem("An entity", entity.name ?? "")) }
        let inherited = entity.superentity?.propertiesByName ?? [:]
        var names: Set<String> = []
        for property in entity.declaredProperties {
            if !isIdentifier(property.name) { problems.append(nameProblem("A property of \(entity.name ?? "")", property.name)) }
            if let other = inherited[property.name] {
                problems.append("Property \(property.path) is there already as \(other.path): give one of them another name.")
            }
            if !names.insert(property.name).inserted {
                problems.append("Entity \(entity.name ?? "") has two properties named \(property.name): give one of them another name.")
            }
        }
        return problems
    }

    private func nameProblem(_ what: String, _ name: String) -> String {
        "\(what) is named “\(name)”: use letters, digits and underscores, beginning with a letter or underscore."
    }

    /// Names become part of SQL text, so nothing that needs quoting gets through.
    private func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return name.unicodeScalars.allSatisfy { $0 == "_" || (!$0.isASCII && $0.properties.isAlphabetic) || isASCIIAlphanumeric($0) }
    }

    private func isASCIIAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
    }

    private func problems(of property: NSPropertyDescription) -> [String] {
        switch property {
        case let relationship as NSRelationshipDescription: problems(of: relationship)
        case let attribute as NSAttributeDescription where attribute.attributeType == .undefinedAttributeType && !attribute.isTransient:
            ["Attribute \(attribute.path) has no type: set its `type`, or make it transient."]
        default: []
        }
    }

    private func problems(of relationship: NSRelationshipDescription) -> [String] {
        guard let destination = relationship.destinationEntity else {
            return ["Relationship \(relationship.path) has no destination: set its `destinationEntity`."]
        }
        guard destination.model === self else {
            return [
                "Relationship \(relationship.path) leads to \(destination.name ?? ""), which is not in the model: add it to `entities`."
            ]
        }
        guard let inverse = relationship.inverseRelationship else { return [] }
        if inverse.inverseRelationship !== relationship {
            return [
                "Relationship \(relationship.path) has inverse \(inverse.path), which does not lead back: set `inverseRelationship` on both."
            ]
        }
        guard let owner = inverse.owner, destination.isKindOf(entity: owner) else {
            return [
                "Relationship \(relationship.path) has inverse \(inverse.path), which is no property of its destination \(destination.name ?? "")."
            ]
        }
        return []
    }

    private func constraintProblems(of entity: NSEntityDescription) -> [String] {
        let known = entity.propertiesByName
        return entity.constraintNames.joined().filter { !isStored(known[$0]) }.map {
            "A uniqueness constraint of \(entity.name ?? "") names \($0): use attributes and to-one relationships that are not transient."
        }
    }

    private func isStored(_ property: NSPropertyDescription?) -> Bool {
        guard let property, !property.isTransient else { return false }
        return property is NSAttributeDescription || (property as? NSRelationshipDescription)?.isToMany == false
    }
}

extension NSManagedObjectModel {
    /// - Parameter isComputing: whether the store computes derived attributes.
    /// - Throws: `CocoaError.coreData` that names the first attribute which a store of this configuration cannot keep.
    func requireStorableAttributes(forConfigurationName configuration: String?, isComputing: Bool) throws {
        for entity in entities(forConfigurationName: configuration) ?? [] {
            for attribute in entity.storedProperties.compactMap({ $0 as? NSAttributeDescription }) {
                try attribute.requireStorable(isComputing: isComputing)
            }
        }
    }
}

extension NSAttributeDescription {
    fileprivate func requireStorable(isComputing: Bool) throws {
        let place = "Attribute \(name) of entity \(entity.name ?? "")"
        if !isStorable { throw CocoaError.coreData(.coreData, "\(place) is \(type.name), which is not supported yet.") }
        guard let derived = self as? NSDerivedAttributeDescription else { return }
        guard isComputing else {
            throw CocoaError.coreData(.coreData, "\(place) is derived, which stores of SQLite and in memory compute, and others do not.")
        }
        _ = try Derivation(derived)
    }
}

extension NSAttributeDescription.AttributeType {
    /// The type's name in messages.
    var name: String { "\(rawValue)".replacingOccurrences(of: "AttributeType", with: "") }
}
