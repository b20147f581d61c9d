import Foundation

extension MappingModel {
    /// Reads the `xcmapping.xml` of an `.xcmappingmodel`, which is a store of Core Data's XML format.
    ///
    /// Entity mappings have no name there; theirs is made of the entities' names, as the compiler makes it. Version hashes and the
    /// expressions that fetch source objects are not there either. The two models that the file contains are not read.
    ///
    /// - Throws: `ModelFormatError` with a line.
    public init(xml data: Data) throws {
        self = try MappingSource(XMLNode.root(of: data)).mappingModel()
    }

    /// Reads an `.xcmappingmodel`.
    ///
    /// - Throws: `ModelFormatError` with the file, and a line where there is one.
    public init(source folder: URL) throws {
        let file = folder.appendingPathComponent("xcmapping.xml")
        let data = try content(of: file)
        self = try inFile(file) { try MappingModel(xml: data) }
    }
}

/// The objects of an `xcmapping.xml`, which refer to each other by ID.
private struct MappingSource {
    private let root: XMLNode
    private let objects: [String: XMLNode]

    init(_ root: XMLNode) throws {
        guard root.name == "database" else { throw root.error("the root element is <\(root.name)>, not <database>") }
        self.root = root
        objects = Dictionary(root.children("object").map { ($0.attribute("id") ?? "", $0) }) { first, _ in first }
    }

    func mappingModel() throws -> MappingModel {
        guard let model = root.children("object").first(where: { $0.attribute("type") == "XDDEVMAPPINGMODEL" }) else {
            throw root.error("the file has no object of type XDDEVMAPPINGMODEL")
        }
        var mapping = MappingModel()
        mapping.sourceModelPath = model.text("sourcemodelpath")
        mapping.destinationModelPath = model.text("destinationmodelpath")
        // NB: relationships have no order; a number has it.
        mapping.entityMappings = try related(model, "entitymappings").sorted { $0.number("mappingnumber") < $1.number("mappingnumber") }
            .map(entityMapping)
        return mapping
    }

    private func related(_ object: XMLNode, _ name: String) throws -> [XMLNode] {
        guard let relationship = object.children("relationship").first(where: { $0.attribute("name") == name }) else { return [] }
        return try (relationship.attribute("idrefs") ?? "").split(separator: " ").map { id in
            guard let found = objects[String(id)] else { throw relationship.error("there is no object \(id)") }
            return found
        }
    }

    private func entityMapping(_ object: XMLNode) throws -> MappingModel.EntityMapping {
        var mapping = MappingModel.EntityMapping()
        mapping.sourceEntity = object.text("sourcename")
        mapping.destinationEntity = object.text("destinationname")
        mapping.migrationPolicyClassName = object.text("migrationpolicyclassname")
        let names = [mapping.sourceEntity, mapping.destinationEntity].compactMap { $0 }
        guard !names.isEmpty else { throw object.error("an entity mapping has neither a source nor a destination") }
        mapping.name = object.text("name") ?? names.joined(separator: "To")
        mapping.kind = kind(of: mapping)
        mapping.attributeMappings = try related(object, "attributemappings").map(propertyMapping).sorted { $0.name < $1.name }
        mapping.relationshipMappings = try related(object, "relationshipmappings").map(propertyMapping).sorted { $0.name < $1.name }
        return mapping
    }

    private func kind(of mapping: MappingModel.EntityMapping) -> MappingModel.Kind {
        if mapping.migrationPolicyClassName != nil { return .custom }
        if mapping.sourceEntity == nil { return .add }
        return mapping.destinationEntity == nil ? .remove : .undefined
    }

    private func propertyMapping(_ object: XMLNode) throws -> MappingModel.PropertyMapping {
        var mapping = MappingModel.PropertyMapping()
        guard let name = object.text("name") else { throw object.error("a property mapping has no name") }
        mapping.name = name
        mapping.isExpressionGenerated = object.number("autogenerateexpression") != 0
        if let data = try object.data("valueexpressiondata") { mapping.expression = try expression(data, of: object) }
        return mapping
    }

    /// An archive inside of the text.
    private func expression(_ data: Data, of object: XMLNode) throws -> Model.Expression? {
        do {
            return try PredicateReader.expression(ArchiveReader(data).root())
        } catch let error as ModelFormatError {
            throw object.error("the expression cannot be read: \(error)")
        }
    }
}

extension XMLNode {
    private func stored(_ name: String) -> XMLNode? { children("attribute").first { $0.attribute("name") == name } }

    /// Nil for an empty text too.
    fileprivate func text(_ name: String) -> String? { stored(name).map(\.text).flatMap { $0.isEmpty ? nil : $0 } }
    fileprivate func number(_ name: String) -> Int { stored(name).flatMap { Int($0.trimmedText) } ?? 0 }

    fileprivate func data(_ name: String) throws -> Data? {
        guard let stored = stored(name) else { return nil }
        guard let data = Data(base64Encoded: stored.text, options: .ignoreUnknownCharacters) else {
            throw stored.error("\(name) is no Base64 text")
        }
        return data
    }
}
