import Foundation

extension MappingModel {
    /// Reads a `.cdm`.
    ///
    /// - Throws: `ModelFormatError` with an offset or the number of an object.
    public init(archive data: Data) throws {
        let root = try ArchiveReader(data).root()
        guard root.className == "NSMappingModel" else { throw root.error("the archive holds no mapping model") }
        entityMappings = try root.objects("NSEntityMappings").map { try EntityMapping($0) }
        var names: Set<String> = []
        if let twice = entityMappings.first(where: { !names.insert($0.name).inserted }) {
            throw root.error("two entity mappings are named \(twice.name)")
        }
    }

    /// Reads a `.cdm`.
    ///
    /// - Throws: `ModelFormatError` with the file, and an offset or the number of an object where there is one.
    public init(compiled file: URL) throws {
        let data = try content(of: file)
        self = try inFile(file) { try MappingModel(archive: data) }
    }
}

extension MappingModel.EntityMapping {
    fileprivate init(_ object: ArchivedObject) throws {
        name = try object.name("NSMappingName")
        let number = try object.integer("NSMappingType") ?? 0
        guard let kind = MappingModel.Kind(rawValue: number) else { throw object.error("\(number) is no type of mapping") }
        self.kind = kind
        sourceEntity = try object.text("NSSourceEntityName")
        sourceVersionHash = try object.data("NSSourceEntityVersionHash")
        destinationEntity = try object.text("NSDestinationEntityName")
        destinationVersionHash = try object.data("NSDestinationEntityVersionHash")
        migrationPolicyClassName = try object.text("NSEntityMigrationPolicyClassName")
        sourceExpression = try PredicateReader.expression(object.object("NSSourceExpression"))
        attributeMappings = try object.objects("NSAttributeMappings").map { try MappingModel.PropertyMapping($0) }
        relationshipMappings = try object.objects("NSRelationshipMappings").map { try MappingModel.PropertyMapping($0) }
        userInfo = try object.userInfo()
    }
}

extension MappingModel.PropertyMapping {
    fileprivate init(_ object: ArchivedObject) throws {
        name = try object.name("NSDestinationPropertyName")
        expression = try PredicateReader.expression(object.object("NSValueExpression"))
        userInfo = try object.userInfo()
    }
}
