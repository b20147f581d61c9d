/// Reads a model from the objects of an archive.
struct ModelReader {
    private let root: ArchivedObject

    init(_ root: ArchivedObject) { self.root = root }

    func model() throws -> Model {
        var model = Model()
        var composites = CompositeCollector()
        model.entities = try entities().map { try EntityReader($0).entity(&composites) }
        model.composites = composites.found
        model.fetchRequests = try root.entries("NSFetchRequestTemplates").map { name, node in
            var request = try FetchRequestReader.request(root.archive.object(node))
            request.name = name
            return request
        }
        model.configurations = try root.entries("NSConfigurations").map { try configuration($0, $1) }
        model.versionIdentifiers = try root.texts("NSVersionIdentifiers").sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return model
    }

    private func entities() throws -> [ArchivedObject] {
        try root.entries("NSEntities").map { name, node in
            guard let entity = try root.archive.object(node), entity.className == "NSEntityDescription" else {
                throw root.error("what NSEntities has for \(name) is no entity")
            }
            return entity
        }
    }

    private func configuration(_ name: String, _ node: PropertyListNode) throws -> Model.Configuration {
        var configuration = Model.Configuration()
        configuration.name = name
        let list = ArchivedObject(archive: root.archive, index: root.index, className: root.className, keys: ["members": node])
        configuration.members = try list.objects("members").map { try $0.name("NSEntityName") }
        return configuration
    }
}

extension ArchivedObject {
    /// A text that must be there.
    func name(_ key: String) throws -> String {
        guard let name = try text(key), !name.isEmpty else { throw error("\(key) is missing") }
        return name
    }

    /// The name that an older version used: nil where it is the present one, which archives repeat.
    func renamingIdentifier(of name: String) throws -> String? {
        let identifier = try text("NSRenamingIdentifier")
        return identifier == name ? nil : identifier
    }

    func userInfo() throws -> [String: Model.Value] {
        let entries = try entries("NSUserInfo").compactMap { key, node in try Model.Value(node, in: archive).map { (key, $0) } }
        return Dictionary(entries) { first, _ in first }
    }
}

/// Reads an entity.
struct EntityReader {
    private let object: ArchivedObject

    init(_ object: ArchivedObject) { self.object = object }

    func entity(_ composites: inout CompositeCollector) throws -> Model.Entity {
        var entity = Model.Entity()
        entity.name = try object.name("NSEntityName")
        entity.className = try object.text("NSClassNameForEntity")
        entity.parent = try object.object("NSSuperentity")?.name("NSEntityName")
        entity.isAbstract = try object.flag("NSIsAbstract")
        entity.renamingIdentifier = try object.renamingIdentifier(of: entity.name)
        entity.versionHashModifier = try object.text("NSVersionHashModifier")
        entity.userInfo = try object.userInfo()
        entity.uniquenessConstraints = try nameLists("NSUniqueTuples")
        entity.compoundIndexes = try nameLists("NSCompoundIndexes")
        entity.indexes = try object.objects("NSFetchIndexDescriptions").map { try FetchIndexReader.index($0) }
        for property in try declaredProperties() { try add(property, to: &entity, &composites) }
        return entity
    }

    private func nameLists(_ key: String) throws -> [[String]] {
        try object.elements(key).map { node in
            let list = ArchivedObject(archive: object.archive, index: object.index, className: object.className, keys: [key: node])
            return try list.texts(key)
        }
    }

    /// The properties that the parent has not. NB: in stores' copies entities list what they inherit too; in `.mom` files they do not.
    private func declaredProperties() throws -> [ArchivedObject] {
        let inherited = Set(try object.object("NSSuperentity")?.entries("NSProperties").map(\.key) ?? [])
        return try object.entries("NSProperties").filter { !inherited.contains($0.key) }.map { name, node in
            guard let property = try object.archive.object(node) else { throw object.error("property \(name) is nil") }
            // NB: a proxy shows a property of another entity.
            guard property.className == "_NSPropertyDescriptionProxy" else { return property }
            guard let shown = try property.object("NSUnderlyingProperty") else { throw property.error("there is no property behind it") }
            return shown
        }
    }

    private func add(_ property: ArchivedObject, to entity: inout Model.Entity, _ composites: inout CompositeCollector) throws {
        switch property.className {
        case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
            entity.attributes.append(try AttributeReader(property).attribute(in: entity.name, &composites))
        case "NSRelationshipDescription": entity.relationships.append(try RelationshipReader.relationship(property))
        case "NSFetchedPropertyDescription": entity.fetchedProperties.append(try FetchRequestReader.fetchedProperty(property))
        default: throw property.error("no property of this class can be read")
        }
    }
}
