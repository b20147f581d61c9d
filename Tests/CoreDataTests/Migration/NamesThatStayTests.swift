import Foundation
import Testing

@testable import CoreData

@Suite("Names in the versions of a model")
struct NamesThatStayTests {
    private let home: StoreHome

    init() throws { home = try StoreHome(.file) }

    /// A model of items with texts: each name with its renaming identifier.
    private func model(_ names: KeyValuePairs<String, String?>, entity: (String, String?) = ("Item", nil), unique: String? = nil)
        -> NSManagedObjectModel
    {
        let item = NSEntityDescription(entity.0)
        item.renamingIdentifier = entity.1
        item.properties = names.map { name, identifier in
            let text = attribute(name)
            text.renamingIdentifier = identifier
            return text
        }
        if let unique { item.uniquenessConstraints = [[unique]] }
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    private func withContext<R>(_ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> R) throws -> R {
        let stack = try Stack(home.url(), model, options: migrating)
        defer { try? stack.close() }
        return try body(stack.newContext())
    }

    private func insert(_ values: [String: String], _ entity: String = "Item", in context: NSManagedObjectContext) {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
    }

    private func only(_ entity: String = "Item", in context: NSManagedObjectContext) throws -> [String: String] {
        let object = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).first)
        return object.entity.attributesByName.keys.reduce(into: [:]) { $0[$1] = object.value(forKey: $1) as? String }
    }

    @Test("stay with their values where a renaming identifier stays in the model, though its name belongs to another now")
    func identifiersThatStay() throws {
        try withContext(model(["a": nil])) { context in
            insert(["a": "first"], in: context)
            try context.save()
        }
        try withContext(model(["b": "a", "a": nil])) { context in
            try #require(try only(in: context) == ["b": "first"])
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first?.setValue("new", forKey: "a")
            try context.save()
        }
        try withContext(model(["b": "a", "a": nil, "c": nil])) { context in
            let item = try only(in: context)
            #expect(item == ["b": "first", "a": "new"])
        }
    }

    @Test("that were exchanged stay exchanged")
    func exchangedNames() throws {
        try withContext(model(["a": nil, "b": nil])) { context in
            insert(["a": "first", "b": "second"], in: context)
            try context.save()
        }
        for extra: KeyValuePairs<String, String?> in [["a": "b", "b": "a", "c": nil], ["a": "b", "b": "a", "c": nil, "d": nil]] {
            try withContext(model(extra)) { context in
                let item = try only(in: context)
                #expect(item == ["a": "second", "b": "first"])
            }
        }
    }

    @Test("stay with their objects where an entity keeps its renaming identifier")
    func entitiesThatStay() throws {
        func versions(_ extra: String?) -> NSManagedObjectModel {
            let (new, old) = (NSEntityDescription("New", attribute("n")), NSEntityDescription("Old", attribute("n")))
            new.renamingIdentifier = "Old"
            if let extra { old.properties.append(attribute(extra)) }
            let model = NSManagedObjectModel()
            model.entities = [new, old]
            return model
        }
        try withContext(versions(nil)) { context in
            insert(["n": "new"], "New", in: context)
            insert(["n": "old"], "Old", in: context)
            try context.save()
        }
        try withContext(versions("extra")) { context in
            try #require(try only("New", in: context) == ["n": "new"])
            try #require(try only("Old", in: context) == ["n": "old"])
        }
    }

    @Test("have their uniqueness and their indexes on the column that is theirs now")
    func uniqueNames() throws {
        try withContext(model(["code": nil], unique: "code")) { context in
            insert(["code": "1"], in: context)
            try context.save()
        }
        let second = model(["code": nil, "oldCode": "code"], unique: "code")
        try withContext(second) { context in
            try #require(try only(in: context) == ["oldCode": "1"])
            insert(["code": "2", "oldCode": "1"], in: context)
            try context.save()
            insert(["code": "2", "oldCode": "3"], in: context)
            #expect(throws: CocoaError.self) { try context.save() }
        }
        try expectSchema(home.url(), of: second)
    }

    @Test("of an entity that becomes abstract are refused while it has objects of its own, and the store stays as it is")
    func becomesAbstract() throws {
        func versions(_ isAbstract: Bool) -> NSManagedObjectModel {
            let child = NSEntityDescription("Child")
            let parent = NSEntityDescription("Parent", attribute("n"), subentities: [child])
            parent.isAbstract = isAbstract
            let model = NSManagedObjectModel()
            model.entities = [parent, child]
            return model
        }
        try withContext(versions(false)) { context in
            insert(["n": "a child"], "Child", in: context)
            insert(["n": "a parent"], "Parent", in: context)
            try context.save()
        }
        let error = cocoaError(134110) { try Stack(home.url(), versions(true), options: migrating) }
        #expect(error?.localizedDescription.contains("Parent") == true)
        try withContext(versions(false)) { context in
            let parents = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Parent"))
            #expect(parents.count == 2)
            parents.filter { $0.entity.name == "Parent" }.forEach(context.delete)
            try context.save()
        }
        try withContext(versions(true)) { context in
            let item = try only("Child", in: context)
            #expect(item == ["n": "a child"])
        }
    }

    @Test("within a tree are followed by a mapping model, object by object")
    func treeByMapping() throws {
        func versions(_ extra: Bool) -> NSManagedObjectModel {
            let node = NSEntityDescription("Node", attribute("n"))
            let (parent, children) = (NSRelationshipDescription(), NSRelationshipDescription())
            (parent.name, parent.maxCount, parent.destinationEntity, parent.inverseRelationship) = ("parent", 1, node, children)
            (children.name, children.maxCount, children.destinationEntity, children.inverseRelationship) = ("children", 0, node, parent)
            node.properties += [parent, children]
            if extra { node.properties.append(attribute("extra")) }
            let model = NSManagedObjectModel()
            model.entities = [node]
            return model
        }
        try withContext(versions(false)) { context in
            let parent = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
            for number in 0..<3 {
                let child = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
                child.setValue("child \(number)", forKey: "n")
                child.setValue(parent, forKey: "parent")
            }
            try context.save()
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: versions(false), destinationModel: versions(true))
        let target = home.url().deletingLastPathComponent().appendingPathComponent("New.sqlite")
        try NSMigrationManager(sourceModel: versions(false), destinationModel: versions(true)).migrateStore(
            from: home.url(),
            sourceType: NSSQLiteStoreType,
            with: mapping,
            toDestinationURL: target,
            destinationType: NSSQLiteStoreType
        )
        let stack = try Stack(target, versions(true))
        let context = stack.newContext()
        let nodes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node"))
        #expect(nodes.map { ($0.value(forKey: "children") as? NSSet)?.count ?? -1 }.sorted() == [0, 0, 0, 3])
        try stack.close()
    }
}
