import Foundation

extension NSManagedObject {
    /// A request for all objects of this class' entity, which the context that executes it knows.
    ///
    /// A class may have one of its own with a result of a type of its own, which is then the one that is meant.
    // NB: disfavoured, so that `let request = Song.fetchRequest()` is not ambiguous where the class has its own.
    @_disfavoredOverload
    public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        ClassRegistrations.register(self)
        // A class that no model in use maps yet is mostly named as its entity will be.
        return NSFetchRequest<any NSFetchRequestResult>(entityName: entity().name ?? String(describing: self))
    }

    /// The entity of this class: in the model that was last given to a coordinator with an entity of this class, else in a registered one.
    ///
    /// Where no model maps the class: an entity without a name, of no model, that no object can be made of.
    public class func entity() -> NSEntityDescription {
        let names = ClassRegistrations.names(of: self)
        return EntityClaims.entity(ofClassNamed: names) ?? registeredEntity(ofClassNamed: names) ?? NSEntityDescription()
    }

    private class func registeredEntity(ofClassNamed names: [String]) -> NSEntityDescription? {
        NSManagedObjectModel.allRegistered.lazy.flatMap(\.entities).first { names.contains($0.managedObjectClassName) }
    }
}

extension NSManagedObject: NSFetchRequestResult {}

extension NSManagedObjectContext {
    /// The entity of a class in this context's model.
    func entity(for objectClass: NSManagedObject.Type) -> NSEntityDescription {
        let wanted = ObjectIdentifier(objectClass)
        return identityMap.recentEntity(of: wanted) ?? identityMap.entity(of: wanted) { findEntity(for: objectClass) }
    }

    private func findEntity(for objectClass: NSManagedObject.Type) -> NSEntityDescription {
        ClassRegistrations.register(objectClass)
        let (name, names) = (NSStringFromClass(objectClass), ClassRegistrations.names(of: objectClass))
        let claims = parentSource.managedObjectModel.entitiesInIndexOrder.filter { names.contains($0.managedObjectClassName) }
        guard claims.count == 1 else {
            misuse(
                claims.isEmpty
                    ? "No entity of the model has class \(name). Set its managedObjectClassName to NSStringFromClass(\(objectClass).self)."
                    : "Several entities have class \(name): \(claims.compactMap(\.name)). Use init(entity:insertInto:)."
            )
        }
        return claims[0]
    }
}
