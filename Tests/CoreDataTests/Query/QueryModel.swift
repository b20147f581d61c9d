import Foundation
import Predicates
import SQLiteDriver
import Testing

@testable import CoreData

/// Songs with everything that a predicate can meet: attributes of all kinds, key paths, a tree of entities, each form of to-many.
enum QueryModel {
    static func make() -> NSManagedObjectModel {
        let song = entity("Song"), artist = entity("Artist"), band = entity("Band"), tag = entity("Tag")
        artist.subentities = [band]
        let (artistOfSong, songsOfArtist) = pair(song, "artist", 1, artist, "songs", 0)
        let (tagsOfSong, songsOfTag) = pair(song, "tags", 0, tag, "songs", 0)
        let similar = relationship("similar", to: song, maxCount: 0)
        similar.inverseRelationship = similar
        song.properties = [
            attribute("title", .stringAttributeType), attribute("album", .stringAttributeType), attribute("plays", .integer64AttributeType),
            attribute("track", .integer16AttributeType), attribute("length", .doubleAttributeType), attribute("gain", .floatAttributeType),
            attribute("released", .dateAttributeType), attribute("isLive", .booleanAttributeType), attribute("code", .UUIDAttributeType),
            attribute("cover", .binaryDataAttributeType), transient("mood"), artistOfSong, tagsOfSong, similar,
        ]
        if let title = song.propertiesByName["title"] { song.indexes = [index("byTitle", on: title)] }
        artist.properties = [attribute("name", .stringAttributeType), attribute("born", .integer32AttributeType), songsOfArtist]
        band.properties = [attribute("size", .integer16AttributeType)]
        tag.properties = [attribute("name", .stringAttributeType), attribute("weight", .integer32AttributeType), songsOfTag]
        let model = NSManagedObjectModel()
        model.entities = [song, artist, band, tag]
        model.freeze()
        return model
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    private static func transient(_ name: String) -> NSAttributeDescription {
        let transient = attribute(name, .stringAttributeType)
        transient.isTransient = true
        return transient
    }

    private static func relationship(_ name: String, to entity: NSEntityDescription, maxCount: Int) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = maxCount
        return relationship
    }

    private static func pair(
        _ left: NSEntityDescription,
        _ leftName: String,
        _ leftCount: Int,
        _ right: NSEntityDescription,
        _ rightName: String,
        _ rightCount: Int
    ) -> (NSRelationshipDescription, NSRelationshipDescription) {
        let there = relationship(leftName, to: right, maxCount: leftCount)
        let back = relationship(rightName, to: left, maxCount: rightCount)
        there.inverseRelationship = back
        back.inverseRelationship = there
        return (there, back)
    }

    private static func index(_ name: String, on property: NSPropertyDescription) -> NSFetchIndexDescription {
        NSFetchIndexDescription(name: name, elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)])
    }
}

/// A model with its schema, and where wanted a database made by it.
struct QueryBench {
    let model = QueryModel.make()
    let cache: PlanCache

    private let home: StoreIdentity?

    /// - Parameter store: the store's number, where there are others.
    init(store: Int32? = nil) {
        cache = PlanCache(schema: SQLSchema(model: model, configuration: nil))
        home = store.map(Self.store)
    }

    private static func store(_ number: Int32) -> StoreIdentity { StoreIdentity("store \(number)", number: number) }

    var schema: SQLSchema { cache.schema }

    func entity(_ name: String) throws -> NSEntityDescription { try #require(model.entitiesByName[name]) }

    func query(_ entity: String = "Song", _ format: String? = nil, _ arguments: [Any?] = []) throws -> FetchQuery {
        var query = FetchQuery(entity: try self.entity(entity))
        query.predicate = try format.map { try NSPredicate(parsing: $0, arguments: arguments).tree }
        return query
    }

    func plan(_ query: FetchQuery, _ result: FetchPlan.Result = .references, excluding keys: [Int64] = []) throws -> FetchPlan {
        try FetchPlan(query, cache: cache, result: result, home: home, excluding: keys)
    }

    func objectID(_ key: Int64, of name: String, store: Int32 = 1) throws -> NSManagedObjectID {
        let entity = try entity(name)
        let space = IDSpace(entity, home: key < 0 ? nil : Self.store(store))
        return NSManagedObjectID(RowIdentity(RowReference(key: key, entity: Int32(entity.index), store: store), in: space))
    }

    /// An empty database in memory with the functions that plans use.
    func database() throws -> Connection {
        let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
        for statement in schema.creationStatements { try connection.execute(statement) }
        try SQLFunctions.register(on: connection)
        return connection
    }
}

/// The condition of a fetch of songs, and its parameters.
func expectCondition(
    _ format: String,
    _ arguments: [Any?] = [],
    _ condition: String,
    _ parameters: [SQLiteValue] = [],
    bench: QueryBench = QueryBench(),
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let plan = try bench.plan(bench.query("Song", format, arguments))
    #expect(plan.remainder == nil, "all of it can be said in SQL", sourceLocation: sourceLocation)
    let expected = "SELECT t0.Z_PK, t0.Z_ENT FROM ZSONG t0" + condition
    #expect(plan.sql == expected, sourceLocation: sourceLocation)
    #expect(plan.parameters == parameters, sourceLocation: sourceLocation)
}
