/// A value of an attribute as stores tell it from others: texts by their bytes, decimals by the number that a column holds.
package struct StoredKey: Hashable {
    private let value: UniqueValue

    /// Nil for what is stored as NULL, which is equal to nothing.
    package init?(_ value: some ManagedValue, of attribute: NSAttributeDescription) {
        guard let any = value.asAny, let unique = UniqueValue(SlotValue(any, for: attribute)) else { return nil }
        self.value = unique
    }
}

extension NSManagedObjectContext {
    /// - Precondition: the class's entity has an attribute of that name.
    package func attribute(_ name: String, of objectClass: NSManagedObject.Type) -> NSAttributeDescription {
        let entity = entity(for: objectClass)
        guard let attribute = entity.attributesByName[name] else {
            misuse("\(entity.name ?? "?") has no attribute \(name): look its objects up by one that it has.")
        }
        return attribute
    }
}
