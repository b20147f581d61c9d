import Foundation

extension NSManagedObject {
    /// A request for all objects of this class' entity, which the context that executes it knows.
    public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        ClassRegistrations.register(self)
        return NSFetchRequest<any NSFetchRequestResult>(entityName: entity().name ?? "")
    }

    /// The entity of this class, in the model that was last given to a coordinator with an entity of this class.
    ///
    /// - Precondition: there is such a model, and one entity of it has this class.
    public class func entity() -> NSEntityDescription {
        guard let entity = EntityClaims.entity(ofClassNamed: NSStringFromClass(self)) else {
            misuse("No model in use has an entity of class \(NSStringFromClass(self)). Make a coordinator with its model first.")
        }
        return entity
    }
}

extension NSManagedObject: NSFetchRequestResult {}

extension NSManagedObjectContext {
    /// The entity of a class in this context's model.
    func entity(for objectClass: NSManagedObject.Type) -> NSEntityDescription {
        if let latestEntity, latestClass == objectClass { return latestEntity }
        let entity = entitiesByClass[ObjectIdentifier(objectClass)] ?? findEntity(for: objectClass)
        (latestClass, latestEntity) = (objectClass, entity)
        return entity
    }

    private func findEntity(for objectClass: NSManagedObject.Type) -> NSEntityDescription {
        ClassRegistrations.register(objectClass)
        let name = NSStringFromClass(objectClass)
        let claims = parentSource.managedObjectModel.entitiesInIndexOrder.filter { $0.managedObjectClassName == name }
        guard claims.count == 1 else {
            misuse(
                claims.isEmpty
                    ? "No entity of the model has class \(name). Set its managedObjectClassName to NSStringFromClass(\(objectClass).self)."
                    : "Several entities have class \(name): \(claims.compactMap(\.name)). Use init(entity:insertInto:)."
            )
        }
        entitiesByClass[ObjectIdentifier(objectClass)] = claims[0]
        return claims[0]
    }
}
