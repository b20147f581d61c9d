/// Copies of some entities, linked among themselves as the originals are.
///
/// What leads from a copied entity to one that was not copied leads to the original still.
struct EntityCopies {
    private var copies: [ObjectIdentifier: NSEntityDescription] = [:]
    /// Those that stand for every entity of a name. One that is the same in two versions may lead to an entity that is not.
    private var byName: [String: NSEntityDescription] = [:]

    init(of entities: [NSEntityDescription]) {
        for entity in entities { copies[ObjectIdentifier(entity)] = entity.copyAlone() }
        linkTrees(entities)
        entities.forEach(linkProperties)
    }

    /// Copies of the first entity of each name, standing for every other of that name too.
    init(mergingByName entities: [NSEntityDescription]) {
        var firsts: [NSEntityDescription] = []
        for entity in entities {
            let name = entity.name ?? ""
            if byName[name] == nil {
                byName[name] = entity.copyAlone()
                firsts.append(entity)
            }
            copies[ObjectIdentifier(entity)] = byName[name]
        }
        linkTrees(entities)
        firsts.forEach(linkProperties)
    }

    subscript(entity: NSEntityDescription) -> NSEntityDescription? { copies[ObjectIdentifier(entity)] }

    /// What a copy leads to in place of an original.
    private func substitute(for entity: NSEntityDescription) -> NSEntityDescription? { self[entity] ?? byName[entity.name ?? ""] }

    /// A copy that stands for several entities gets the subentities of all.
    private func linkTrees(_ originals: [NSEntityDescription]) {
        for original in originals {
            guard let copy = self[original] else { continue }
            let children = original.subentities.compactMap(substitute)
            copy.subentities += children.filter { child in !copy.subentities.contains { $0 === child } }
        }
    }

    private func linkProperties(of original: NSEntityDescription) {
        guard let copy = self[original] else { return }
        for relationship in copy.declaredProperties.compactMap({ $0 as? NSRelationshipDescription }) {
            relationship.destinationEntity = relationship.destinationEntity.map { substitute(for: $0) ?? $0 }
            relationship.inverseRelationship = relationship.inverseRelationship.map {
                counterpart(of: $0) as? NSRelationshipDescription ?? $0
            }
        }
        copy.indexes = original.indexes.map { $0.copy(resolving: counterpart) }
    }

    private func counterpart(of property: NSPropertyDescription) -> NSPropertyDescription {
        guard let owner = property.owner, let copy = substitute(for: owner) else { return property }
        return copy.declaredProperties.first { $0.name == property.name } ?? property
    }
}

extension NSEntityDescription {
    /// A copy with copies of its properties, without subentities and indexes.
    fileprivate func copyAlone() -> NSEntityDescription {
        let copy = type(of: self).init()
        copy.name = name
        copy.managedObjectClassName = managedObjectClassName
        copy.isAbstract = isAbstract
        copy.userInfo = userInfo
        copy.versionHashModifier = versionHashModifier
        copy.explicitRenamingIdentifier = explicitRenamingIdentifier
        copy.constraintNames = constraintNames
        // copy() of a property makes an object of the same class.
        copy.properties = declaredProperties.map { $0.copy() as! NSPropertyDescription }
        return copy
    }
}
