import Foundation
import Predicates
import class Predicates.NSExpression

/// Reads the property mappings of an entity mapping.
struct AssignmentReader {
    let mapping: String
    let source: NSEntityDescription?
    let destination: NSEntityDescription
    /// Whether properties without a mapping, in a mapping that has none at all, are those of the same name.
    let copies: Bool

    /// - Throws: `CocoaError` 134110 that names entity, property and reason.
    func assignments<Property: NSPropertyDescription>(_ mappings: [NSPropertyMapping]?, of kind: Property.Type) throws
        -> [PropertyAssignment]
    {
        guard let mappings else { return copies ? copied(kind) : [] }
        return try mappings.compactMap { try assignment($0, kind) }
    }

    private func copied(_ kind: NSPropertyDescription.Type) -> [PropertyAssignment] {
        destination.propertiesInNameOrder.filter { type(of: $0).isSubclass(of: kind) && !$0.isTransient }.compactMap { property in
            let mapping = NSPropertyMapping()
            mapping.name = property.name
            return sameName(property).map { assignment(property, mapping, $0) }
        }
    }

    private func assignment(_ mapping: NSPropertyMapping, _ kind: NSPropertyDescription.Type) throws -> PropertyAssignment? {
        let name = mapping.name ?? ""
        guard let property = destination.propertiesByName[name] else {
            throw refusal(name, "\(destination.name ?? "?") of the destination has no property \"\(name)\"")
        }
        guard type(of: property).isSubclass(of: kind) else {
            let wanted = kind == NSAttributeDescription.self ? "attribute" : "relationship"
            throw refusal(name, "\(destination.name ?? "?").\(name) of the destination is no \(wanted)")
        }
        guard let expression = mapping.valueExpression ?? (mapping.followsFromName ? sameName(property) : nil) else { return nil }
        try requireKnown(expression, name)
        return assignment(property, mapping, expression)
    }

    private func assignment(_ property: NSPropertyDescription, _ mapping: NSPropertyMapping, _ expression: NSExpression)
        -> PropertyAssignment
    {
        PropertyAssignment(
            property: property,
            mapping: mapping,
            expression: expression,
            copied: sourceKey(of: expression).flatMap { source?.propertiesByName[$0] },
            followed: followed(expression),
            throughMapping: throughMapping(expression)
        )
    }

    /// The property of the source that has the same name, or what it leads to has become.
    private func sameName(_ property: NSPropertyDescription) -> NSExpression? {
        guard let before = source?.propertiesByName[property.name] else { return nil }
        switch property {
        case is NSRelationshipDescription:
            return before is NSRelationshipDescription ? .destinationInstances(ofSourceRelationship: before.name) : nil
        default: return before is NSAttributeDescription ? .source(before.name) : nil
        }
    }

    /// A key of the source that there is not is found before the first object is migrated.
    private func requireKnown(_ expression: NSExpression, _ name: String) throws {
        guard let key = sourceKey(of: expression) ?? argumentKey(of: expression) else { return }
        guard let source else { throw refusal(name, "the mapping has no source, which $source.\(key) is of") }
        guard source.propertiesByName[key] != nil || key == "objectID" else {
            throw refusal(name, "\(source.name ?? "?") of the source has no property \"\(key)\"")
        }
    }

    private func followed(_ expression: NSExpression) -> NSRelationshipDescription? {
        guard case .call(_, let function, _) = expression.tree, function.hasPrefix("destinationInstancesFor") else { return nil }
        return argumentKey(of: expression).flatMap { source?.propertiesByName[$0] as? NSRelationshipDescription }
    }

    /// The name of the one mapping whose objects are meant.
    private func throughMapping(_ expression: NSExpression) -> String? {
        guard case .call(_, MigrationFunction.destinations.rawValue, let arguments) = expression.tree else { return nil }
        return arguments.first?.constantValue as? String
    }

    /// The key of `$source.key`.
    private func sourceKey(of expression: NSExpression) -> String? {
        guard case .keyPath(let operand?, let path) = expression.tree, case .variable(NSMigrationSourceObjectKey) = operand.tree,
            !path.contains("."), !path.hasPrefix("@"), path != "self"
        else { return nil }
        return path
    }

    /// The key of the last argument of a function of the manager's.
    private func argumentKey(of expression: NSExpression) -> String? {
        guard case .call(let target, _, let arguments) = expression.tree, case .variable(NSMigrationManagerKey) = target.tree else {
            return nil
        }
        return arguments.last.flatMap(sourceKey)
    }

    private func refusal(_ property: String, _ reason: String) -> CocoaError {
        .migration(
            "Entity mapping \(mapping), property \(property): \(reason).",
            entity: destination.name,
            property: property,
            mapping: mapping
        )
    }
}

extension NSExpression {
    /// `$source.key`.
    static func source(_ key: String) -> NSExpression {
        NSExpression(.keyPath(operand: NSExpression(forVariable: NSMigrationSourceObjectKey), key))
    }

    /// What the objects have become that the source object leads to.
    static func destinationInstances(ofSourceRelationship name: String) -> NSExpression {
        NSExpression(
            forFunction: NSExpression(forVariable: NSMigrationManagerKey),
            selectorName: MigrationFunction.destinationsOfRelationship.rawValue,
            arguments: [name, source(name)]
        )
    }
}

extension NSPropertyDescription {
    fileprivate static func isSubclass(of kind: NSPropertyDescription.Type) -> Bool {
        sequence(first: self as AnyClass) { _getSuperclass($0) }.contains { $0 == kind }
    }
}
