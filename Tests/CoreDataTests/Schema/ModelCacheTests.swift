import Foundation
import ModelFormat
import Predicates
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("The model cache", .enabled(if: ArchivedModelReader.canRead, ArchivedModelReader.whyNot))
struct ModelCacheTests {
    // A model with everything that matters for hashes, archived and read by someone else.
    @Test("holds a model with the same version hashes, indexes and identifiers")
    func roundTrip() throws {
        let (base, sub) = (
            NSEntityDescription("Base", attribute("größe", .double)), NSEntityDescription("Sub", attribute("data", .binaryData))
        )
        base.subentities = [sub]
        base.isAbstract = true
        base.versionHashModifier = "2"
        sub.attributesByName["data"]?.allowsExternalBinaryDataStorage = true
        sub.attributesByName["data"]?.preservesValueInHistoryOnDeletion = true
        sub.relate("bases", to: base, many: true, ordered: true, inverse: base.relate("sub", to: sub))
        sub.relationshipsByName["bases"]?.maxCount = .max
        base.uniquenessConstraints = [["größe", "sub"]]
        let element = NSFetchIndexElementDescription(property: base.properties[0], collationType: .binary)
        element.isAscending = false
        base.indexes = [NSFetchIndexDescription(name: "bySize", elements: [element])]
        let model = NSManagedObjectModel(base, sub)
        model.versionIdentifiers = ["", "1.0 é"]
        model.setEntities([sub], forConfigurationName: "Local")
        model.freeze()

        let archive = try ArchivedModelReader.archive(in: try ModelCache.content(of: model))
        #expect(archive.entities.map(\.allProperties) == [["größe", "sub"], ["bases", "data", "größe", "sub"]])
        let read = ArchivedModelReader.model(from: archive)
        #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(read.versionIdentifiers == model.versionIdentifiers)
        let index = try #require(read.entitiesByName["Base"]?.indexes.first)
        #expect(index.name == "bySize" && index.elements.map(\.isAscending) == [false])
    }

    // Read by the reader of model files, which knows expressions.
    @Test("has expressions and conditions of indexes")
    func expressions() throws {
        let (base, sub) = (NSEntityDescription("Base", attribute("width", .integer64)), NSEntityDescription("Sub"))
        base.subentities = [sub]
        let twice = NSExpressionDescription()
        (twice.name, twice.expression, twice.expressionResultType) = ("twice", NSExpression(format: "width * 2"), .integer64AttributeType)
        let index = NSFetchIndexDescription(name: "i", elements: [.init(property: twice, collationType: .binary)])
        index.partialIndexPredicate = NSPredicate(format: "width > 3")
        base.indexes = [index]
        let content = try ModelCache.content(of: NSManagedObjectModel(base, sub).frozen())
        let read = try Model(archive: ArchivedModelReader.inflated(content))
        let element = try #require(read.entities[0].indexes[0].elements.first)
        #expect(try element.expression.map(Predicates.NSExpression.make)?.description == "width * 2")
        #expect(element.expressionType == .integer64)
        #expect(read.entities[0].indexes[0].partialPredicate?.format == "width > 3")
        #expect(read.entities.map(\.name) == ["Base", "Sub"] && read.entities[1].parent == "Base")
    }

    // One element has no form in a file.
    @Test("has no condition rather than another one where a part of it cannot be kept")
    func unkeepable() throws {
        let entity = NSEntityDescription("E", attribute("width", .integer64))
        let index = NSFetchIndexDescription(name: "i", elements: [.init(property: entity.properties[0], collationType: .binary)])
        index.partialIndexPredicate = NSPredicate(format: "width IN %@", [1, NSObject()])
        entity.indexes = [index]
        let content = try ModelCache.content(of: NSManagedObjectModel(entity).frozen())
        let read = try Model(archive: ArchivedModelReader.inflated(content))
        #expect(read.entities[0].indexes.map(\.name) == ["i"] && read.entities[0].indexes[0].partialPredicate == nil)
    }

    @Test("survives defaults of every kind, and hundreds of properties")
    func large() throws {
        let entity = NSEntityDescription("Wide")
        let values: [Any] = [
            "text", 5, true, 2.5, Date(timeIntervalSinceReferenceDate: 1), Data([1, 2]), UUID(), NSNumber(value: 1), NSNull(),
            Decimal(1.5), NSDecimalNumber(value: 2), URL(fileURLWithPath: "/"), [1, 2], NSObject(),
        ]
        entity.properties = (0..<900).map { number in
            let made = attribute("property\(number)")
            made.defaultValue = values[number % values.count]
            made.userInfo = ["key": "value \(number)"]
            return made
        }
        let model = NSManagedObjectModel(entity).frozen()
        let content = try ModelCache.content(of: model)
        // More than one block of the stream.
        #expect(content.count > 0xffff)
        let read = ArchivedModelReader.model(from: try ArchivedModelReader.archive(in: content))
        #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    }

    // Classes and keys as in the file that Apple's Core Data made from the same model.
    @Test(
        "has the classes and keys of a real one",
        .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"),
        arguments: [
            ("samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel.xcdatamodeld"),
            ("bookmarks/Bookmarks_V4.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
            ("wire/store2-60-0.wiredatabase", "wire/zmessaging.xcdatamodeld"),
        ]
    )
    func keys(store: String, bundle: String) throws {
        try Fixtures.withStore(store) { connection in
            let theirs = try ArchivedModelReader.archive(in: content(in: connection))
            let ours = try ArchivedModelReader.archive(in: ModelCache.content(of: Fixtures.model(in: bundle, of: connection)))
            for name in ["NSManagedObjectModel", "NSAttributeDescription", "NSRelationshipDescription", "NSFetchIndexElementDescription"] {
                #expect(ours.keys[name] == theirs.keys[name], "\(name)")
            }
            // NSCompoundIndexes is the old form of what NSFetchIndexDescriptions says.
            let entityKeys = theirs.keys["NSEntityDescription"]?.filter { $0 != "NSCompoundIndexes" && $0 != "NSFetchIndexDescriptions" }
            #expect(ours.keys["NSEntityDescription"]?.filter { $0 != "NSFetchIndexDescriptions" } == entityKeys)
        }
    }

    // Stores without an XML model. Partial indexes, R-trees and triggers are not made here.
    @Test(
        "of a real store leads to the store's hashes, tables and indexes",
        .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"),
        arguments: [
            "photos/Photos-13.5-empty.sqlite", "photos-small/photosgraph.graphdb", "photos-small/CLSPublicEventCache.sqlite",
            "photos-small/MediaAnalysis.sqlite", "samplemodel2/SampleModel2_V1.sqlite", "testmodel-m2m/TestModel.sqlite",
        ]
    )
    func realModels(store: String) throws {
        try Fixtures.withStore(store) { connection in
            let model = ArchivedModelReader.model(from: try ArchivedModelReader.archive(in: content(in: connection)))
            #expect(model.entityVersionHashesByName == (try Fixtures.versionHashes(in: connection)))
            model.freeze()

            let ours = Set(SQLSchema(model: model, configuration: nil).creationStatements.filter { $0.hasPrefix("CREATE") })
            let theirs = try creations(in: connection)
            #expect(ours.subtracting(theirs).sorted() == [])
            #expect(theirs.subtracting(ours).filter { !isNotMade($0) }.sorted() == [])
            _ = try SQLSchema(reading: connection, model: model, configuration: nil)
        }
    }

    /// History, partial indexes, indexes over expressions, R-trees, and indexes that an application made by itself.
    private func isNotMade(_ statement: String) -> Bool {
        let signs = ["ACHANGE", "ATRANSACTION", " WHERE ", "(Z_ENT COLLATE", ", Z_ENT COLLATE", ", Z_PK COLLATE", "Z_RT_", "RADAR"]
        return signs.contains { statement.contains($0) }
    }

    private func content(in connection: Connection) throws -> [UInt8] {
        guard case .blob(let content) = try #require(try connection.rows("SELECT Z_CONTENT FROM Z_MODELCACHE").first)[0] else { return [] }
        return content
    }

    private func creations(in connection: Connection) throws -> Set<String> {
        let rows = try connection.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index')")
        return Set(rows.compactMap { if case .text(let sql) = $0[0] { sql } else { nil } })
    }
}
