import Foundation

@testable import CoreData

/// Two versions of a model, between which nothing can be inferred: customers become clients with a full name, and totals become numbers.
struct Shop {
    let old = Self.oldModel()
    let new = Self.newModel()

    static func oldModel() -> NSManagedObjectModel {
        let customer = NSEntityDescription("Customer", attribute("first"), attribute("last"), attribute("age", .integer32))
        let order = NSEntityDescription("Order", attribute("number", .integer64), attribute("total"))
        let orders = customer.relate("orders", to: order, many: true)
        orders.inverseRelationship = order.relate("customer", to: customer, inverse: orders)
        let tag = NSEntityDescription("Tag", attribute("label"))
        let tags = order.relate("tags", to: tag, many: true, ordered: true)
        tags.inverseRelationship = tag.relate("orders", to: order, many: true, inverse: tags)
        return NSManagedObjectModel(customer, order, tag)
    }

    static func newModel() -> NSManagedObjectModel {
        let name = attribute("fullName")
        name.isOptional = false
        let client = NSEntityDescription("Client", name, attribute("age", .integer32))
        let order = NSEntityDescription("Order", attribute("number", .integer64), attribute("amount", .double))
        let orders = client.relate("orders", to: order, many: true)
        orders.inverseRelationship = order.relate("client", to: client, inverse: orders)
        let tag = NSEntityDescription("Tag", attribute("label"))
        let tags = order.relate("tags", to: tag, many: true, ordered: true)
        tags.inverseRelationship = tag.relate("orders", to: order, many: true, inverse: tags)
        return NSManagedObjectModel(client, order, tag)
    }

    /// Customers with two orders each, and tags that all orders share.
    func fill(_ url: URL, customers: Int = 3, type: String = NSSQLiteStoreType) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let tags = ["red", "green"].map { label in
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue(label, forKey: "label")
            return tag
        }
        for number in 0..<customers {
            let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
            customer.setValue("Ann\(number)", forKey: "first")
            customer.setValue("Löwe", forKey: "last")
            customer.setValue(20 + number, forKey: "age")
            for half in 0..<2 {
                let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: context)
                order.setValue(2 * number + half, forKey: "number")
                order.setValue("\(number).\(half == 0 ? 0 : 5)", forKey: "total")
                order.setValue(customer, forKey: "customer")
                order.setValue(NSOrderedSet(array: half == 0 ? tags : tags.reversed()), forKey: "tags")
            }
        }
        store.metadata?["note"] = "mine"
        try context.save()
        try coordinator.remove(store)
    }

    /// Customers by a policy or expression; orders by expressions; tags as they are.
    func mapping(policy: NSEntityMigrationPolicy.Type? = nil) -> NSMappingModel {
        let client = NSEntityMapping("CustomerToClient", "Customer", "Client")
        client.entityMigrationPolicyClassName = policy.map { NSStringFromClass($0) }
        let space = "FUNCTION($entityPolicy, \"join:with:\", $source.first, $source.last)"
        client.attributeMappings = [.init("fullName", policy == nil ? "$source.first" : space), .init("age", "$source.age")]
        client.relationshipMappings = [
            .init(
                "orders",
                "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"OrderToOrder\", $source.orders)"
            )
        ]
        let order = NSEntityMapping("OrderToOrder", "Order", "Order")
        order.attributeMappings = [.init("number", "$source.number"), .init("amount", "CAST($source.total, \"NSNumber\")")]
        order.relationshipMappings = [
            .init(
                "client",
                "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"customer\", $source.customer)"
            ),
            .init("tags", "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"TagToTag\", $source.tags)"),
        ]
        let tag = NSEntityMapping("TagToTag", "Tag", "Tag")
        tag.mappingType = .copyEntityMappingType
        let model = NSMappingModel()
        model.entityMappings = [client, order, tag]
        return model
    }

    /// What is in a migrated store, a line for each object.
    func contents(_ url: URL, type: String = NSSQLiteStoreType) throws -> [String] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        func all(_ name: String) throws -> [NSManagedObject] { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) }
        let clients = try all("Client").map { client in
            let orders = (client.value(forKey: "orders") as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "number") as? Int }
            return "\(client.value(forKey: "fullName") ?? "-"), \(client.value(forKey: "age") ?? "-"): \(orders.sorted())"
        }
        let orders = try all("Order").map { order in
            let tags = (order.value(forKey: "tags") as? NSOrderedSet)?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "label") }
            let client = order.value(forKey: "client") as? NSManagedObject
            return
                "\(order.value(forKey: "number") ?? "-") \(order.value(forKey: "amount") ?? "-") \(tags ?? []) of \(client?.value(forKey: "fullName") ?? "-")"
        }
        let lines = clients.sorted() + orders.sorted()
        try coordinator.remove(store)
        return lines
    }

    static let migrated = [
        "Ann0 Löwe, 20: [0, 1]", "Ann1 Löwe, 21: [2, 3]", "Ann2 Löwe, 22: [4, 5]",
        "0 0.0 [\"red\", \"green\"] of Ann0 Löwe", "1 0.5 [\"green\", \"red\"] of Ann0 Löwe", "2 1.0 [\"red\", \"green\"] of Ann1 Löwe",
        "3 1.5 [\"green\", \"red\"] of Ann1 Löwe", "4 2.0 [\"red\", \"green\"] of Ann2 Löwe", "5 2.5 [\"green\", \"red\"] of Ann2 Löwe",
    ]
}

extension NSEntityMapping {
    convenience init(_ name: String, _ source: String?, _ destination: String?) {
        self.init()
        (self.name, sourceEntityName, destinationEntityName) = (name, source, destination)
        mappingType = source == nil ? .addEntityMappingType : destination == nil ? .removeEntityMappingType : .transformEntityMappingType
    }
}

extension NSPropertyMapping {
    convenience init(_ name: String, _ expression: String) {
        self.init()
        self.name = name
        valueExpression = NSExpression(format: expression)
    }
}

/// Joins names, as its mapping's expression asks it to.
class JoiningPolicy: NSEntityMigrationPolicy {
    override func value(forFunction name: String, arguments: [Any?]) throws -> Any? {
        guard name == "join:with:" else { return try super.value(forFunction: name, arguments: arguments) }
        return arguments.compactMap { $0 as? String }.joined(separator: " ")
    }
}

/// Notes each hook in the manager's user info.
final class NotingPolicy: JoiningPolicy {
    private func note(_ hook: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        let notes = manager.userInfo?["notes"] as? [String] ?? []
        let line = "\(hook) \(mapping.name ?? "")"
        if notes.last != line { manager.userInfo = ["notes": notes + [line]] }
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { note("begin", mapping, manager) }
    override func createDestinationInstances(forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        note("create", mapping, manager)
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("endCreation", mapping, manager)
    }
    override func createRelationships(forDestination object: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        note("relate", mapping, manager)
        try super.createRelationships(forDestination: object, in: mapping, manager: manager)
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("endRelation", mapping, manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("validate", mapping, manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { note("end", mapping, manager) }
}
