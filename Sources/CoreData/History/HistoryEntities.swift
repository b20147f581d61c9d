/// The entities that stand for transactions and changes in the fetch requests of history requests. They are of no program's model.
enum HistoryEntities {
    static let transaction = entity(
        "TRANSACTION",
        [
            ("author", .stringAttributeType), ("bundleID", .stringAttributeType), ("contextName", .stringAttributeType),
            ("processID", .stringAttributeType), ("timestamp", .dateAttributeType), ("token", .integer64AttributeType),
            ("transactionNumber", .integer64AttributeType),
        ]
    )
    static let change = entity(
        "CHANGE",
        [
            ("changedEntity", .integer64AttributeType), ("changedID", .integer64AttributeType),
            ("changedObjectID", .objectIDAttributeType), ("changeType", .integer64AttributeType),
        ]
    )

    private static func entity(_ name: String, _ attributes: [(name: String, type: NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { attribute in
            let description = NSAttributeDescription()
            (description.name, description.attributeType) = (attribute.name, attribute.type)
            return description
        }
        return entity
    }
}

extension NSPersistentHistoryTransaction {
    /// The entity for fetch requests: `author`, `bundleID`, `contextName`, `processID`, `timestamp`, `transactionNumber`, and `token`, which is compared
    /// with tokens.
    public class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { HistoryEntities.transaction }
    /// A new request for transactions, whose predicate is to be set.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { .init(of: HistoryEntities.transaction) }
}

extension NSPersistentHistoryChange {
    /// The entity for fetch requests: `changedID`, `changeType`, `changedEntity`, which is compared with an entity and does not mean its subentities,
    /// `changedObjectID`; and what begins with `transaction.`.
    public class var entityDescription: NSEntityDescription? { HistoryEntities.change }
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { HistoryEntities.change }
    /// A new request for changes, whose predicate is to be set.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { .init(of: HistoryEntities.change) }
}

extension NSFetchRequest {
    fileprivate convenience init(of entity: NSEntityDescription) {
        self.init()
        self.entity = entity
    }
}
