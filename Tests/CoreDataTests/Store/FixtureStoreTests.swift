import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

@Suite("A store that Apple's Core Data wrote", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
struct FixtureStoreTests {
    static let stores = [
        ("samplemodel/SampleModel_V1.sqlite", "samplemodel/SampleModel.xcdatamodeld"),
        ("samplemodel/SampleModel_V2.sqlite", "samplemodel/SampleModel.xcdatamodeld"),
        ("testmodel-m2m/TestModel.sqlite", "testmodel-m2m/Sample.xcdatamodeld"),
        ("moody/Moody.moody", "moody/Moody.xcdatamodeld"), ("moody/Moody 2.moody", "moody/Moody.xcdatamodeld"),
        ("moody/Moody 4.moody", "moody/Moody.xcdatamodeld"),
        ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
        ("bookmarks/Bookmarks_V3.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
        ("bookmarks/Bookmarks_V4.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
        ("wire/store2-60-0.wiredatabase", "wire/zmessaging.xcdatamodeld"),
    ]

    @Test("shows the objects that its golden file lists", arguments: stores)
    func golden(store: String, bundle: String) throws {
        try withStack(store, bundle) { stack, _ in
            let context = stack.newContext()
            for (name, entity) in try Self.golden(store) {
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                #expect(try context.count(for: request) == entity["countIncludingSubentities"] as? Int, "\(name)")
                request.includesSubentities = false
                #expect(try context.count(for: request) == entity["count"] as? Int, "\(name)")
                for expected in entity["objects"] as? [[String: Any]] ?? [] { try compare(expected, stack, context) }
            }
        }
    }

    @Test("takes a new object, and its keys go on after those it has given", arguments: stores)
    func inserting(store: String, bundle: String) throws {
        try withStack(store, bundle) { stack, url in
            let context = stack.newContext()
            let model = stack.coordinator.managedObjectModel
            for entity in model.entities.filter({ !$0.isAbstract && $0.properties.allSatisfy(Self.isEasy) }) {
                let root = entity.rootEntity.name ?? ""
                let highest = { try Child.sqlite(url, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(root)'") }
                let before = try #require(Int64(try highest()))
                let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
                try context.save()
                #expect(object.objectID.identity.key == before + 1)
                #expect(try highest() == "\(before + 1)")
                #expect(try stack.newContext().existingObject(with: object.objectID).entity === entity)
            }
            try stack.close()
            #expect(try Child.sqlite(url, "PRAGMA integrity_check") == "ok")
            let again = try Stack(url, try #require(Self.copy(of: model)))
            #expect(try again.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: model.entities[0].name ?? "")).count >= 0)
        }
    }

    /// Whether an object is valid without it, and unique whatever it is.
    private static func isEasy(_ property: NSPropertyDescription) -> Bool {
        property.isOptional || property.isTransient || (property as? NSAttributeDescription)?.defaultValue != nil
    }

    private static func copy(of model: NSManagedObjectModel) -> NSManagedObjectModel? { model.copy() as? NSManagedObjectModel }

    /// Runs `body` on a copy of a store.
    private func withStack(_ store: String, _ bundle: String, _ body: (Stack, URL) throws -> Void) throws {
        let model = try Fixtures.withStore(store) { try Fixtures.model(in: bundle, of: $0) }
        let folder = try TemporaryFolder()
        try Fixtures.copyStore(store, to: folder.store)
        try body(try Stack(folder.store, model), folder.store)
    }

    static func golden(_ store: String) throws -> [String: [String: Any]] {
        let data = try Fixtures.data(store + ".golden.json")
        let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return try #require(json?["entities"] as? [String: [String: Any]])
    }

    private func compare(_ expected: [String: Any], _ stack: Stack, _ context: NSManagedObjectContext) throws {
        let uri = try #require(expected["objectID"] as? String)
        let id = try #require(stack.coordinator.managedObjectID(for: uri))
        let object = try context.existingObject(with: id)
        for (key, value) in expected["attributes"] as? [String: Any] ?? [:] where object.entity.attributesByName[key]?.isTransient == false
        {
            let found = Self.golden(key, of: object)
            #expect(Self.isEqual(found, value), "\(uri) \(key): \(found ?? "nil"), not \(value)")
        }
        for (key, value) in expected["relationships"] as? [String: Any] ?? [:] {
            let found = object.objectIDs(forRelationshipNamed: key).map { $0.uriRepresentation().absoluteString }
            if let many = value as? [String: Any] {
                let targets = many["targets"] as? [String] ?? []
                #expect(found.count == many["count"] as? Int, "\(uri) \(key)")
                if many["ordered"] as? Bool == true {
                    #expect(Array(found.prefix(targets.count)) == targets, "\(uri) \(key)")
                } else {
                    #expect(Set(found).isSuperset(of: targets), "\(uri) \(key)")
                }
            } else {
                #expect(found == (value as? String).map { [$0] } ?? [], "\(uri) \(key)")
            }
        }
    }

    /// The value of an attribute as golden files have it.
    static func golden(_ key: String, of object: NSManagedObject) -> Any? {
        object.entity.attributesByName[key]?.type == .transformable ? archive(of: object, key) : object.value(forKey: key)
    }

    /// What stands for a value of a class that is not here.
    private static func archive(of object: NSManagedObject, _ key: String) -> Data? {
        guard case .attribute(let slot, _)? = object.scope.shape.properties[key], case .binary(let data) = object.currentRow.value(slot)
        else {
            return nil
        }
        return data
    }

    static func isEqual(_ found: Any?, _ expected: Any) -> Bool {
        switch (found, expected) {
        case (nil, is NSNull): true
        // The files themselves are not among the fixtures.
        case (nil, let parts as [String: Any]): parts["externalReference"] != nil
        case (let date as Date, let parts as [String: Any]):
            abs(date.timeIntervalSinceReferenceDate - (parts["timeIntervalSinceReferenceDate"] as? Double ?? .nan)) < 1e-6
        case (let data as Data, let parts as [String: Any]):
            data.count == (parts["transformable"] as? [String: Any] ?? parts)[parts["length"] == nil ? "bytes" : "length"] as? Int
        case (let uuid as UUID, let parts as [String: Any]): uuid.uuidString == (parts["uuid"] as? String)?.uppercased()
        case (let text as String, let other as String): text == other
        case (let number as NSNumber, let other as NSNumber): number.doubleValue == other.doubleValue
        default: false
        }
    }
}
