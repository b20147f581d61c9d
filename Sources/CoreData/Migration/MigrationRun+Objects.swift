import Foundation
import Predicates

/// What becomes of what.
extension MigrationRun {
    func planned(_ mapping: NSEntityMapping) -> PlannedMapping? {
        if current.mapping === mapping { return current }
        return plan.mappings.first { $0.mapping === mapping } ?? planned(mapping.name ?? "")
    }

    private func planned(_ name: String) -> PlannedMapping? { plan.mappings.first { $0.name == name } }

    func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: NSEntityMapping) {
        guard let planned = planned(mapping) else {
            misuse("associate(sourceInstance:withDestinationInstance:for:) takes an entity mapping of the manager's mapping model.")
        }
        guard source.registeredContext === self.source.context, destination.registeredContext === self.destination.context else {
            misuse("associate(sourceInstance:withDestinationInstance:for:) takes an object of sourceContext and one of destinationContext.")
        }
        planned.associations.add(source, destination)
    }

    func destinationInstances(_ name: String, _ sources: [NSManagedObject]?) -> [NSManagedObject] {
        guard let planned = planned(name) else { return [] }
        guard let sources else { return distinct(objects(planned.associations.allDestinations, destination.context)) }
        return sources.flatMap { objects(planned.associations.destinations(of: $0), destination.context) }
    }

    func sourceInstances(_ name: String, _ destinations: [NSManagedObject]?) -> [NSManagedObject] {
        guard let planned = planned(name) else { return [] }
        guard let destinations else { return distinct(objects(planned.associations.allSources, source.context)) }
        return destinations.flatMap { objects(planned.associations.sources(of: $0), source.context) }
    }

    private func objects(_ found: (saved: [RowReference], unsaved: [NSManagedObject]), _ context: NSManagedObjectContext)
        -> [NSManagedObject]
    {
        // NB: a policy may have deleted some, and not saved that yet.
        (found.saved.map(context.object) + found.unsaved).filter { !$0.isGone }
    }

    /// NB: several may have become one, and one several.
    private func distinct(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        var seen: Set<ObjectIdentifier> = []
        return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// What the objects at the end of a relationship became, by any mapping.
    fileprivate func destinationInstances(of sources: [NSManagedObject]) -> [NSManagedObject] {
        sources.flatMap { source in plan.mappings.flatMap { objects($0.associations.destinations(of: source), destination.context) } }
    }

    /// Where the source objects of a mapping are, in the order of their keys or as its expression has them.
    func sourceReferences(of mapping: PlannedMapping) throws -> [RowReference] {
        guard let entity = mapping.source else { return [] }
        guard let expression = mapping.mapping.sourceExpression else { return try source.context.references(of: entity) }
        switch try evaluate(expression, mapping) {
        case let request as NSFetchRequest<NSManagedObject>: return try source.context.fetch(request).map(\.rowReference)
        case let request as NSFetchRequest<any NSFetchRequestResult>:
            return try source.context.fetch(request).compactMap { ($0 as? NSManagedObject)?.rowReference }
        case let objects as [Any]: return objects.compactMap { ($0 as? NSManagedObject)?.rowReference }
        default:
            let reason = "Entity mapping \(mapping.name): the source expression gives neither a fetch request nor objects: \(expression)."
            throw CocoaError.migration(reason, entity: entity.name, mapping: mapping.name)
        }
    }
}

/// What a policy does that is not a program's.
extension MigrationRun {
    func createInstance(forSource object: NSManagedObject, _ mapping: NSEntityMapping) throws {
        let planned = planned(mapping) ?? current
        guard let entity = planned.destination else { return }
        guard !entity.isAbstract else {
            throw CocoaError.migration(
                "Entity mapping \(planned.name): \(entity.name ?? "?") of the destination is abstract, and no object can be of it.",
                entity: entity.name,
                mapping: planned.name
            )
        }
        let made = NSManagedObject(entity: entity, insertInto: destination.context)
        for assignment in planned.attributes { try assign(assignment, planned, object, made) }
        // A manager of the program's may note it, too.
        manager.associate(sourceInstance: object, withDestinationInstance: made, for: planned.mapping)
    }

    func createRelationships(of object: NSManagedObject, _ mapping: NSEntityMapping) throws {
        let planned = planned(mapping) ?? current
        guard !planned.relationships.isEmpty else { return }
        let source = sourceInstances(planned.name, [object]).first
        for assignment in planned.relationships { try assign(assignment, planned, source, object) }
    }

    private func assign(_ assignment: PropertyAssignment, _ mapping: PlannedMapping, _ source: NSManagedObject?, _ made: NSManagedObject)
        throws
    {
        if let source, made.copy(assignment, from: source) { return }
        do {
            let value = try evaluate(assignment.expression, mapping, source, made, assignment.mapping)
            try made.setMigrated(value, assignment.property, leavesOut: followsOn(assignment))
        } catch {
            let name = "\(made.entity.name ?? "?").\(assignment.property.name)"
            throw CocoaError.migration(
                "Entity mapping \(mapping.name), \(name) = \(assignment.expression): \(error.localizedDescription)",
                entity: made.entity.name,
                property: assignment.property.name,
                mapping: mapping.name,
                error
            )
        }
    }

    /// Whether a relationship goes on as one of the source, to objects of which some may be of other trees now: they are left out.
    func followsOn(_ assignment: PropertyAssignment) -> Bool {
        guard let before = assignment.followed?.destinationEntity,
            let now = (assignment.property as? NSRelationshipDescription)?.destinationEntity
        else { return false }
        return plan.mappings.contains { mapping in
            (mapping.source?.isKindOf(entity: before) ?? false) && (mapping.destination?.isKindOf(entity: now) ?? false)
        }
    }

    private func evaluate(
        _ expression: NSExpression,
        _ mapping: PlannedMapping,
        _ source: NSManagedObject? = nil,
        _ destination: NSManagedObject? = nil,
        _ property: NSPropertyMapping? = nil
    ) throws -> Any? {
        let variables: [String: Any?] = [
            NSMigrationManagerKey: manager, NSMigrationEntityMappingKey: mapping.mapping, NSMigrationEntityPolicyKey: mapping.policy,
            NSMigrationSourceObjectKey: source, NSMigrationDestinationObjectKey: destination, NSMigrationPropertyMappingKey: property,
        ]
        return try expression.value(for: source, variables: variables.compactMapValues { $0 })
    }
}

/// The functions of `$manager` in expressions.
enum MigrationFunction: String {
    case destinations = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    case destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    case sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    case request = "fetchRequestForSourceEntityNamed:predicateString:"
}

extension MigrationRun {
    /// - Throws: `CocoaError` 134110 for a function that there is not.
    func value(forFunction name: String, _ arguments: [Any?]) throws -> Any? {
        guard let function = MigrationFunction(rawValue: name), arguments.count == 2, let key = arguments[0] as? String else {
            throw CocoaError.migration("$manager has no function \"\(name)\" of these arguments.", mapping: current.name)
        }
        switch function {
        case .destinations: return try destinationInstances(known(key), try managedObjects(arguments[1]))
        case .destinationsOfRelationship: return destinationInstances(of: try managedObjects(arguments[1]))
        case .sources: return try sourceInstances(known(key), try managedObjects(arguments[1]))
        case .request:
            let request = NSFetchRequest<NSManagedObject>(entityName: key)
            request.includesSubentities = false
            request.predicate = try (arguments[1] as? String).map { try NSPredicate(parsing: $0) }
            return request
        }
    }

    private func known(_ name: String) throws -> String {
        if planned(name) != nil { return name }
        throw CocoaError.migration("There is no entity mapping named \(name).", mapping: current.name)
    }
}

/// The objects that a value of an expression is, or holds; of a set, the older ones first.
func managedObjects(_ value: Any?) throws -> [NSManagedObject] {
    switch value {
    case nil, is NSNull: []
    case let object as NSManagedObject: [object]
    case let list as NSOrderedSet: try managedObjects(list.array)
    case let set as Set<NSManagedObject>: set.sorted(by: isOlder)
    case let set as Set<AnyHashable>: try managedObjects(set.map(\.base)).sorted(by: isOlder)
    case let list as [Any?]: try list.compactMap { $0 }.map(managedObject)
    case let value?: [try managedObject(value)]
    }
}

private func managedObject(_ value: Any) throws -> NSManagedObject {
    if let object = value as? NSManagedObject { return object }
    throw CocoaError.coreData(.entityMigrationPolicy, "the value is \(typeName(value)), and no object or collection of objects")
}

/// NB: the keys of objects that are not saved yet count down.
private func isOlder(_ one: NSManagedObject, _ other: NSManagedObject) -> Bool {
    (one.key < 0 ? 1 : 0, one.key.magnitude) < (other.key < 0 ? 1 : 0, other.key.magnitude)
}
