import CoreData
import Testing

/// A class with the names of what the library keeps inside, as somebody may have who has never seen it.
final class Parcel: NSManagedObject {
    private static let ownerKey = Attribute<String?>("owner")
    private static let rowKey = Attribute<Int64>("row")
    private static let stateKey = Attribute<String?>("state")
    private static let keyKey = Attribute<Int64>("key")
    private static let nextKey = ToOne<Parcel>("scope")
    var owner: String? {
        get { self[Parcel.ownerKey] }
        set { self[Parcel.ownerKey] = newValue }
    }
    var row: Int64 {
        get { self[Parcel.rowKey] }
        set { self[Parcel.rowKey] = newValue }
    }
    var state: String? {
        get { self[Parcel.stateKey] }
        set { self[Parcel.stateKey] = newValue }
    }
    var key: Int64 {
        get { self[Parcel.keyKey] }
        set { self[Parcel.keyKey] = newValue }
    }
    var scope: Parcel? {
        get { self[Parcel.nextKey] }
        set { self[Parcel.nextKey] = newValue }
    }
    // Stored ones, which the model does not know.
    var rowKeeper: AnyObject?
    var scopeReference = "reference"
    var changedBits: UInt32 = 7
    var extras: [String] = []
    var own = "own"
    var batch = 3
    var identity = "identity"
    var registeredContext: String?
    func fire() -> String { "fire" }
    func checkQueue() -> String { "check" }
}

final class Depot: NSManagedObjectContext, @unchecked Sendable {
    var tracker = "tracker"
    var registry = "registry"
    var queue: [String] = []
    var children = 3
    var depth = 4
    var parentLink: String?
    var latestSave = 5
}

@Suite("A class of the program's own")
struct OwnNamesTests {
    private func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let parcel = NSEntityDescription()
        parcel.name = "Parcel"
        parcel.managedObjectClassName = NSStringFromClass(Parcel.self)
        let next = NSRelationshipDescription()
        (next.name, next.maxCount, next.destinationEntity) = ("scope", 1, parcel)
        parcel.properties = [
            attribute("owner", .stringAttributeType), attribute("row", .integer64AttributeType), attribute("state", .stringAttributeType),
            attribute("key", .integer64AttributeType), next,
        ]
        let model = NSManagedObjectModel()
        model.entities = [parcel]
        return model
    }

    @Test("may give its properties any name that the library uses inside")
    func names() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = Depot(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let (parcel, other) = (Parcel(context: context), Parcel(context: context))
            (parcel.owner, parcel.row, parcel.state, parcel.key, parcel.scope) = ("Anna", 1, "sent", 2, other)
            (parcel.rowKeeper, parcel.changedBits, parcel.registeredContext, parcel.scopeReference) = (other, 9, "none", "changed")
            try context.save()
            context.refresh(parcel, mergeChanges: false)
            #expect(parcel.owner == "Anna" && parcel.row == 1 && parcel.state == "sent" && parcel.key == 2 && parcel.scope === other)
            #expect(parcel.rowKeeper === other && parcel.changedBits == 9 && parcel.scopeReference == "changed")
            #expect(parcel.value(forKey: "owner") as? String == "Anna" && parcel.value(forKey: "own") as? String == "own")
            #expect(parcel.fire() == "fire" && parcel.checkQueue() == "check" && context.tracker == "tracker" && context.latestSave == 5)
            parcel.owner = "Bert"
            #expect(parcel.changedValues().keys.sorted() == ["owner"])
            try context.save()
            let request = NSFetchRequest<Parcel>(entityName: "Parcel")
            request.predicate = NSPredicate(format: "owner == 'Bert' AND state == 'sent' AND key == 2")
            #expect(try context.fetch(request) == [parcel])
        }
    }
}
