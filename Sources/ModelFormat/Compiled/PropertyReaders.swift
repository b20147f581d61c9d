/// Reads a relationship from an archive.
enum RelationshipReader {
    static func relationship(_ object: ArchivedObject) throws -> Model.Relationship {
        var relationship = Model.Relationship()
        relationship.name = try object.name("NSPropertyName")
        relationship.isOptional = try object.flag("NSIsOptional")
        relationship.isTransient = try object.flag("NSIsTransient")
        relationship.isIndexed = try object.flag("NSIsIndexed")
        relationship.isOrdered = try object.flag("NSIsOrdered")
        relationship.minCount = try count(object.integer("NSMinCount"))
        relationship.maxCount = try count(object.integer("NSMaxCount"))
        relationship.deleteRule = try deleteRule(object)
        relationship.destination = try object.text("_NSDestinationEntityName") ?? object.object("NSDestinationEntity")?.name("NSEntityName")
        let inverse = try object.object("NSInverseRelationship").map(shown)
        relationship.inverse = try object.text("_NSInverseRelationshipName") ?? inverse?.name("NSPropertyName")
        relationship.renamingIdentifier = try object.renamingIdentifier(of: relationship.name)
        relationship.versionHashModifier = try object.text("NSVersionHashModifier")
        relationship.userInfo = try object.userInfo()
        return relationship
    }

    /// The property that a proxy shows.
    private static func shown(_ object: ArchivedObject) throws -> ArchivedObject {
        object.className == "_NSPropertyDescriptionProxy" ? try object.object("NSUnderlyingProperty") ?? object : object
    }

    /// NB: counts have 32 bits, and `Int.max` is archived as −1.
    private static func count(_ number: Int?) -> Int { number == -1 ? .max : number ?? 0 }

    private static func deleteRule(_ object: ArchivedObject) throws -> Model.Relationship.DeleteRule {
        let number = try object.integer("NSDeleteRule") ?? 0
        guard let rule = Model.Relationship.DeleteRule(rawValue: number) else { throw object.error("\(number) is no delete rule") }
        return rule
    }
}

/// Reads fetch requests and fetched properties from an archive.
enum FetchRequestReader {
    static func fetchedProperty(_ object: ArchivedObject) throws -> Model.FetchedProperty {
        var property = Model.FetchedProperty()
        property.name = try object.name("NSPropertyName")
        property.isOptional = try object.flag("NSIsOptional")
        property.request = try request(object.object("NSFetchRequest"))
        property.request.name = "fetchedPropertyFetchRequest"
        property.request.entity = try property.request.entity ?? object.text("_NSFetchRequestEntityName")
        property.renamingIdentifier = try object.renamingIdentifier(of: property.name)
        property.versionHashModifier = try object.text("NSVersionHashModifier")
        property.userInfo = try object.userInfo()
        return property
    }

    static func request(_ object: ArchivedObject?) throws -> Model.FetchRequest {
        var request = Model.FetchRequest()
        guard let object else { return request }
        request.entity = try entityName(object)
        request.predicate = try PredicateReader.predicate(object.object("NSPredicate"))
        request.sortDescriptors = try object.objects("NSSortDescriptors").map(sortDescriptor)
        request.fetchLimit = try object.integer("NSFetchLimit") ?? 0
        request.fetchOffset = try object.integer("NSFetchOffset") ?? 0
        request.fetchBatchSize = try object.integer("NSBatchSize") ?? 0
        request.resultType = try object.integer("NSResultType") ?? 0
        request.prefetchedKeyPaths = try object.texts("NSRelationshipKeyPathsForPrefetching")
        if let flags = try object.integer("NSFetchRequestFlags") { request.options = .init(rawValue: flags) }
        return request
    }

    /// NB: a request may know its entity by name only.
    private static func entityName(_ object: ArchivedObject) throws -> String? {
        guard let value = try object.value("NSEntity") else { return nil }
        if case .string(let name) = value { return name }
        return try object.object("NSEntity")?.name("NSEntityName")
    }

    private static func sortDescriptor(_ object: ArchivedObject) throws -> Model.SortDescriptor {
        var descriptor = Model.SortDescriptor()
        descriptor.key = try object.text("NSKey")
        descriptor.isAscending = try object.flag("NSAscending")
        descriptor.selector = try object.text("NSSelector")
        return descriptor
    }
}

/// Reads an index from an archive.
enum FetchIndexReader {
    static func index(_ object: ArchivedObject) throws -> Model.FetchIndex {
        var index = Model.FetchIndex()
        index.name = try object.name("NSIndexName")
        index.partialPredicate = try PredicateReader.predicate(object.object("NSPartialIndexPredicate"))
        index.elements = try object.objects("NSIndexElements").map(element)
        return index
    }

    private static func element(_ object: ArchivedObject) throws -> Model.FetchIndex.Element {
        var element = Model.FetchIndex.Element()
        element.property = try object.text("NSPropertyName")
        element.isAscending = try object.flag("NSAscending")
        let number = try object.integer("NSFetchIndexElementType") ?? 0
        guard let collation = Model.FetchIndex.Collation(rawValue: number) else { throw object.error("\(number) is no type of index") }
        element.collation = collation
        if let property = try object.object("NSIndexedProperty"), property.className == "NSExpressionDescription" {
            element.expression = try PredicateReader.expression(property.object("NSExpression"))
            element.expressionType = try property.integer("NSExpressionType").flatMap(Model.ValueType.init)
        }
        return element
    }
}
