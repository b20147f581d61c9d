import Foundation
import Testing

@testable import CoreData

/// A model with every kind of uniqueness constraint:
///
/// ```
/// Owner (name)          ▸▸ pets (cascade) ◂ owner · badge ◂▸ owner · team ▸ ◂◂ members · clubs ◂◂▸▸ members
/// Manager ▷ Owner       (desk), and (name) from Owner
/// Seat (row, number), (label)
/// Memo ▸ about: Owner, ▸▸ others: Owner, both without inverse
/// ```
enum UniqueModel {
    static func make() -> NSManagedObjectModel {
        let owner = entity("Owner", [("name", .stringAttributeType), ("note", .stringAttributeType), ("score", .integer64AttributeType)])
        owner.attributesByName["score"]?.defaultValue = 7
        owner.uniquenessConstraints = [["name"]]
        let manager = entity("Manager", [("desk", .stringAttributeType)])
        manager.uniquenessConstraints = [["desk"]]
        owner.subentities = [manager]
        let seat = entity("Seat", [("row", .integer16AttributeType), ("number", .doubleAttributeType), ("label", .stringAttributeType)])
        seat.uniquenessConstraints = [["row", "number"], ["label"]]
        let (pet, badge) = (entity("Pet", [("name", .stringAttributeType)]), entity("Badge", [("code", .stringAttributeType)]))
        let (team, club) = (entity("Team", [("name", .stringAttributeType)]), entity("Club", [("name", .stringAttributeType)]))
        let memo = entity("Memo", [("text", .stringAttributeType)])
        LibraryModel.relate(owner, "pets", toMany: true, .cascadeDeleteRule, pet, "owner", toMany: false, .nullifyDeleteRule)
        LibraryModel.relate(owner, "badge", toMany: false, .nullifyDeleteRule, badge, "owner", toMany: false, .nullifyDeleteRule)
        LibraryModel.relate(owner, "team", toMany: false, .nullifyDeleteRule, team, "members", toMany: true, .nullifyDeleteRule)
        LibraryModel.relate(owner, "clubs", toMany: true, .nullifyDeleteRule, club, "members", toMany: true, .nullifyDeleteRule)
        for (name, limit) in [("about", 1), ("others", 0)] {
            let relationship = NSRelationshipDescription()
            (relationship.name, relationship.maxCount, relationship.destinationEntity) = (name, limit, owner)
            memo.properties.append(relationship)
        }
        let model = NSManagedObjectModel()
        model.entities = [owner, manager, seat, pet, badge, team, club, memo]
        return model
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        LibraryModel.entity(name, NSManagedObject.self, attributes.map { LibraryModel.attribute($0.0, $0.1) })
    }
}

/// A store of the model, and contexts on it, which are confined to the test's thread.
final class UniqueStore {
    let home: StoreHome
    let coordinator: NSPersistentStoreCoordinator
    let store: SQLiteStore
    let context: NSManagedObjectContext

    init(_ kind: StoreKind, _ policy: NSMergePolicy = .error, configure: (NSManagedObjectModel) -> Void = { _ in }) throws {
        home = try StoreHome(kind)
        coordinator = try Self.coordinator(home, configure)
        store = try #require(coordinator.persistentStores.first as? SQLiteStore)
        context = Library.context(on: coordinator)
        context.mergePolicy = policy
    }

    private static func coordinator(
        _ home: StoreHome,
        _ configure: (NSManagedObjectModel) -> Void = { _ in }
    ) throws -> NSPersistentStoreCoordinator {
        let model = UniqueModel.make()
        configure(model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: home.kind.type, configurationName: nil, at: home.url(), options: nil)
        return coordinator
    }

    /// A context that knows nothing of what the others have read.
    func otherContext(separate: Bool = true) throws -> NSManagedObjectContext {
        Library.context(on: separate ? try Self.coordinator(home) : coordinator)
    }

    /// Owners in the store, saved by somebody else.
    func saved(_ names: String..., note: String = "stored", score: Int = 1) throws {
        let other = try otherContext()
        for name in names { other.make("Owner", ["name": name, "note": note, "score": score]) }
        try other.save()
    }

    /// Keys, names, notes and scores of the owners.
    func owners() throws -> String { try home.sql("SELECT Z_PK, ZNAME, ZNOTE, ZSCORE FROM ZOWNER ORDER BY Z_PK") }
}

extension NSManagedObjectContext {
    @discardableResult func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func found(_ entity: String, _ key: String, _ value: String) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "%K == %@", key, value)
        let objects = try fetch(request)
        #expect(objects.count == 1)
        return try #require(objects.first)
    }
}

extension NSManagedObject {
    func text(_ key: String) -> String? { value(forKey: key) as? String }
    func number(_ key: String) -> Int? { (value(forKey: key) as? NSNumber)?.intValue }
    func target(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
    func members(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }
}
