import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A store with a history that was migrated in its place")
struct HistoryInPlaceTests {
    @Test("keeps the changes, and says which properties only where they are the same")
    func properties() throws {
        let folder = try TemporaryFolder()
        let old = try Stack(folder.store, LibraryModel.make(), options: [NSPersistentHistoryTrackingKey: true])
        let context = old.newContext()
        let (tag, book) = (Tag(context: context), Book(context: context))
        book.title = "a"
        try context.save()
        (tag.label, book.title) = ("b", "b")
        try context.save()
        try old.close()
        let model = LibraryModel.make()
        model.entitiesByName["Tag"]?.properties.append(LibraryModel.attribute("colour", .stringAttributeType))
        let added = LibraryModel.entity("Aardvark", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
        model.entities.append(added)
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ]
        let new = try Stack(folder.store, model, options: options)
        #expect(try new.newContext().told() == [["insert Book/p1", "insert Tag/p1"], ["update Book/p1 title", "update Tag/p1"]])
        try new.close()
        #expect(try StoreInspector(url: folder.store).problems(with: model) == [])
    }

    // * The name of an item was changed. In the next version its attribute is called otherwise, and in the one after that its name and its number
    //   have changed places.
    // => The name is told of under its new name, and never the number.
    @Test("says which properties were changed under their new names, unless these have changed places")
    func exchangedNames() throws {
        let folder = try TemporaryFolder()
        func model(_ text: (name: String, former: String?), _ number: (name: String, former: String?)) -> NSManagedObjectModel {
            let item = NSEntityDescription("Item", attribute(text.name), attribute(number.name, .integer64))
            for (name, former) in [text, number] { item.attributesByName[name]?.renamingIdentifier = former }
            return NSManagedObjectModel(item)
        }
        let options = migrating.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
        let old = try Stack(folder.store, model(("a", nil), ("x", nil)), options: options)
        let context = old.newContext()
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        try context.save()
        item.setValue("1", forKey: "a")
        try context.save()
        try old.close()
        let versions = [(model(("b", "a"), ("x", nil)), "update Item/p1 b"), (model(("x", "b"), ("b", "x")), "update Item/p1")]
        for (model, told) in versions {
            let new = try Stack(folder.store, model, options: options)
            #expect(try new.newContext().told().last == [told])
            try new.close()
        }
    }

    // * Of a deleted tag two values are kept. In the new version one of its attributes has another name, others are kept as well, and one is not.
    // => Each value that is still kept is that of its attribute.
    @Test("keeps what is left of deleted objects under the names of its attributes")
    func tombstones() throws {
        let folder = try TemporaryFolder()
        func model(_ names: [(name: String, former: String?)]) throws -> NSManagedObjectModel {
            let model = LibraryModel.make()
            let tag = try #require(model.entitiesByName["Tag"])
            for (name, former) in names {
                let attribute = LibraryModel.attribute(name, .stringAttributeType)
                (attribute.preservesValueInHistoryOnDeletion, attribute.renamingIdentifier) = (true, former)
                tag.properties.append(attribute)
            }
            return model
        }
        let old = try Stack(folder.store, model([("m", nil), ("q", nil)]), options: [NSPersistentHistoryTrackingKey: true])
        let context = old.newContext()
        let tag = Tag(context: context)
        for name in ["m", "q"] { tag.setValue("its \(name)", forKey: name) }
        try context.save()
        context.delete(tag)
        try context.save()
        try old.close()
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ]
        let versions: [([(name: String, former: String?)], [String: String])] = [
            ([("a", nil), ("b", "q"), ("m", nil)], ["b": "its q", "m": "its m"]), ([("b", nil), ("n", nil)], ["b": "its q"]),
        ]
        for (names, kept) in versions {
            let new = try Stack(folder.store, model(names), options: options)
            let deletion = try #require(try new.newContext().history().last?.changes?.first)
            #expect(deletion.tombstone as? [String: String] == kept)
            try new.close()
        }
    }

    @Test("keeps numbers of deleted objects whose attributes have room for larger ones now")
    func widerTombstones() throws {
        let folder = try TemporaryFolder()
        func model(_ whole: NSAttributeDescription.AttributeType, _ broken: NSAttributeDescription.AttributeType) -> NSManagedObjectModel {
            let item = NSEntityDescription("Item", attribute("whole", whole), attribute("broken", broken))
            for attribute in item.attributesByName.values { attribute.preservesValueInHistoryOnDeletion = true }
            return NSManagedObjectModel(item)
        }
        let old = try Stack(folder.store, model(.integer16, .float), options: [NSPersistentHistoryTrackingKey: true])
        let context = old.newContext()
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(300, forKey: "whole")
        item.setValue(1.5, forKey: "broken")
        try context.save()
        context.delete(item)
        try context.save()
        try old.close()
        let options = migrating.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
        let new = try Stack(folder.store, model(.integer64, .double), options: options)
        let deletion = try #require(try new.newContext().history().last?.changes?.first)
        #expect(deletion.tombstone?["whole"] as? Int == 300 && deletion.tombstone?["broken"] as? Double == 1.5)
        try new.close()
    }
}
