/// Archives a model with the classes and keys that Apple's compiler writes.
struct ModelWriter {
    /// What the archive is for; collections have other classes in a store's copy.
    enum Form {
        case file
        case cache
    }

    let model: Model
    private let form: Form
    let predicates: PredicateWriter
    var archive = KeyedArchive()
    let root: PropertyListNode
    /// The archived entities by name.
    let entities: [String: PropertyListNode]
    /// The archived relationships by entity and name.
    let relationships: [String: [String: PropertyListNode]]
    let composites: [String: Model.Composite]
    let parents: [String: String]
    private let children: [String: [Model.Entity]]

    init(_ model: Model, _ parser: ModelTextParser, form: Form = .file) {
        self.model = model
        self.form = form
        predicates = PredicateWriter(parser: parser)
        composites = Dictionary(model.composites.map { ($0.name, $0) }) { first, _ in first }
        parents = Dictionary(model.entities.compactMap { entity in entity.parent.map { (entity.name, $0) } }) { first, _ in first }
        children = Dictionary(grouping: inOrder(model.entities, by: \.name)) { $0.parent ?? "" }
        var archive = KeyedArchive()
        root = archive.reserve()
        var (entities, relationships): ([String: PropertyListNode], [String: [String: PropertyListNode]]) = ([:], [:])
        for entity in model.entities {
            entities[entity.name] = archive.reserve()
            for relationship in entity.relationships { relationships[entity.name, default: [:]][relationship.name] = archive.reserve() }
        }
        (self.entities, self.relationships, self.archive) = (entities, relationships, archive)
    }

    mutating func bytes() throws -> [UInt8] {
        for entity in model.entities { try write(entity) }
        var keys = [
            "NSEntities": entitiesByName(),
            "NSFetchRequestTemplates": try fetchRequests(),
            "NSVersionIdentifiers": archive.set(model.versionIdentifiers.map { archive.string($0) }),
        ]
        if !model.configurations.isEmpty { keys["NSConfigurations"] = configurations() }
        archive.fill(root, ["NSManagedObjectModel", "NSObject"], keys)
        return archive.bytes(root: root)
    }

    private mutating func entitiesByName() -> PropertyListNode {
        let entries = inOrder(model.entities, by: \.name).map { (key: archive.string($0.name), value: reference($0.name)) }
        return form == .file ? archive.dictionary(entries, mutable: true) : archive.knownKeysDictionary(entries)
    }

    func reference(_ entity: String?) -> PropertyListNode { entity.flatMap { entities[$0] } ?? KeyedArchive.null }

    private mutating func fetchRequests() throws -> PropertyListNode {
        if model.fetchRequests.isEmpty { return KeyedArchive.null }
        let entries = try inOrder(model.fetchRequests, by: \.name).map { (archive.string($0.name), try fetchRequest($0)) }
        return archive.dictionary(entries, mutable: true)
    }

    private mutating func configurations() -> PropertyListNode {
        let entries = inOrder(model.configurations, by: \.name).map { configuration in
            let members = configuration.members.map(reference)
            return (archive.string(configuration.name), form == .file ? archive.array(members, mutable: true) : archive.set(members))
        }
        return archive.dictionary(entries, mutable: true)
    }

    mutating func userInfo(_ userInfo: [String: Model.Value]) throws -> PropertyListNode {
        try archive.dictionary(inOrder(userInfo, by: \.key).map { (archive.string($0.key), try archive.value($0.value)) })
    }
}

/// The elements in the order of their names.
func inOrder<Elements: Sequence>(_ elements: Elements, by name: (Elements.Element) -> String) -> [Elements.Element] {
    elements.sorted { name($0).utf8.lexicographicallyPrecedes(name($1).utf8) }
}

/// Entities.
extension ModelWriter {
    private mutating func write(_ entity: Model.Entity) throws {
        let subentities = children[entity.name] ?? []
        var keys = [
            "NSEntityName": archive.string(entity.name), "NSClassNameForEntity": archive.string(entity.plainClassName),
            "NSManagedObjectModel": root, "NSSuperentity": reference(entity.parent),
            "NSSubentities": archive.dictionary(subentities.map { (archive.string($0.name), reference($0.name)) }, mutable: true),
            "NSRenamingIdentifier": archive.string(entity.renamingIdentifier ?? entity.name),
            "NSVersionHashModifier": archive.string(entity.versionHashModifier), "NSUserInfo": try userInfo(entity.userInfo),
            "NSProperties": try properties(of: entity),
        ]
        if entity.isAbstract { keys["NSIsAbstract"] = .bool(true) }
        if !entity.uniquenessConstraints.isEmpty { keys["NSUniqueTuples"] = nameLists(entity.uniquenessConstraints) }
        if !entity.compoundIndexes.isEmpty { keys["NSCompoundIndexes"] = nameLists(entity.compoundIndexes) }
        if !entity.indexes.isEmpty { keys["NSFetchIndexDescriptions"] = try indexes(of: entity) }
        archive.fill(reference(entity.name), ["NSEntityDescription", "NSObject"], keys)
    }

    private mutating func nameLists(_ lists: [[String]]) -> PropertyListNode {
        archive.array(lists.map { names in archive.array(names.map { archive.string($0) }, mutable: true) }, mutable: true)
    }

    private mutating func properties(of entity: Model.Entity) throws -> PropertyListNode {
        var entries: [(name: String, node: PropertyListNode)] = []
        for attribute in entity.attributes { entries.append((attribute.name, try self.attribute(attribute, of: reference(entity.name)))) }
        for relationship in entity.relationships {
            entries.append((relationship.name, try self.relationship(relationship, of: entity.name)))
        }
        for property in entity.fetchedProperties { entries.append((property.name, try fetchedProperty(property, of: entity.name))) }
        return archive.dictionary(inOrder(entries, by: \.name).map { (archive.string($0.name), $0.node) }, mutable: true)
    }

    private mutating func indexes(of entity: Model.Entity) throws -> PropertyListNode {
        archive.array(try entity.indexes.map { try self.index($0, of: reference(entity.name)) }, mutable: true)
    }

    private mutating func index(_ index: Model.FetchIndex, of entity: PropertyListNode) throws -> PropertyListNode {
        let reserved = archive.reserve()
        let elements = try index.elements.enumerated().map { try element($1, number: $0 + 1, of: reserved) }
        let keys = [
            "NSIndexName": archive.string(index.name), "NSEntity": entity, "NSIndexElements": archive.array(elements),
            "NSPartialIndexPredicate": try predicates.predicate(index.partialPredicate, &archive),
        ]
        archive.fill(reserved, ["NSFetchIndexDescription", "NSObject"], keys)
        return reserved
    }

    private mutating func element(_ element: Model.FetchIndex.Element, number: Int, of index: PropertyListNode) throws -> PropertyListNode {
        let name = element.property ?? "expression\(number)"
        var keys = [
            "NSPropertyName": archive.string(name), "NSFetchIndexElementType": .integer(Int64(element.collation.rawValue)),
            "NSAscending": .bool(element.isAscending), "NSFetchIndexDescription": index,
        ]
        if let expression = element.expression {
            keys["NSIndexedProperty"] = try expressionDescription(expression, name, element.expressionType ?? .undefined)
        }
        return archive.object(["NSFetchIndexElementDescription", "NSObject"], keys)
    }

    private mutating func expressionDescription(
        _ expression: Model.Expression,
        _ name: String,
        _ type: Model.ValueType
    ) throws -> PropertyListNode {
        let keys = [
            "NSPropertyName": archive.string(name), "NSRenamingIdentifier": archive.string(name), "NSIsOptional": .bool(true),
            "NSIsReadOnly": .bool(true), "_P": .integer(PropertyFlags(isOptional: true, isReadOnly: true).bits),
            "NSExpression": try predicates.expression(expression, &archive), "NSExpressionType": .integer(Int64(type.rawValue)),
        ]
        return archive.object(["NSExpressionDescription", "NSPropertyDescription", "NSObject"], keys)
    }
}
