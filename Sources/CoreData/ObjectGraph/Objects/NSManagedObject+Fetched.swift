import Predicates

/// Fetched properties.
extension NSManagedObject {
    /// The results of the property's request: fetched when it is first read, and kept until the object is refreshed or becomes a fault.
    ///
    /// Where the fetch fails there are none: the next access tries again.
    final func fetchedObjects(_ property: NSFetchedPropertyDescription) -> [NSManagedObject] {
        if let known = existingExtras?.fetched[property.name] { return known }
        guard let context = registeredContext, let request = request(of: property) else { return [] }
        // A failure is in the log.
        guard let objects = try? context.fetch(request) else { return [] }
        extras.fetched[property.name] = objects
        return objects
    }

    private func request(of property: NSFetchedPropertyDescription) -> NSFetchRequest<NSManagedObject>? {
        let request: NSFetchRequest<NSManagedObject>? = property.request()
        request?.predicate = request?.predicate?.withValues(of: ["FETCH_SOURCE": self, "FETCHED_PROPERTY": property])
        return request
    }

    final func refuseValue(of property: NSFetchedPropertyDescription) -> Never {
        misuse("\(property.path) is a fetched property and cannot be set: it has what its fetch request finds.")
    }
}
