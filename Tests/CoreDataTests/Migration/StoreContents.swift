import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

/// Everything in a store as texts, by entity, key and property: to compare a store before a migration with the one after it.
struct StoreContents {
    private(set) var objects: [String: [String: [String: String]]] = [:]

    init(_ url: URL, _ model: NSManagedObjectModel) throws {
        let stack = try Stack(url, model)
        let context = stack.newContext()
        for entity in model.entities where !entity.isAbstract {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            objects[entity.name ?? ""] = try Dictionary(
                context.fetch(request).map { (Self.key($0), Self.values(of: $0)) },
                uniquingKeysWith: { first, _ in first }
            )
        }
        try stack.close()
    }

    private static func key(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().lastPathComponent }

    private static func values(of object: NSManagedObject) -> [String: String] {
        let stored = object.entity.propertiesByName.values.filter { !$0.isTransient }
        return stored.reduce(into: [:]) { $0[$1.name] = text(of: object.value(forKey: $1.name)) }
    }

    /// What a relationship leads to, with its entity: no matter which of those below the destination it is, it is one of that still.
    private static func target(_ object: NSManagedObject) -> String { "\(object.entity.name ?? "")/\(key(object))" }

    /// A to-one relationship is written as a to-many one with one object.
    static func text(of value: Any?) -> String {
        switch value {
        case nil: "[]"
        case let object as NSManagedObject: "[\(target(object))]"
        case let set as NSOrderedSet:
            "\(set.array.compactMap { ($0 as? NSManagedObject).map(target) })".replacingOccurrences(of: "\"", with: "")
        case let set as NSSet:
            "\(set.allObjects.compactMap { ($0 as? NSManagedObject).map(target) }.sorted())".replacingOccurrences(of: "\"", with: "")
        case let number as NSNumber: "\(number)"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let data as Data: data.map { String($0, radix: 16) }.joined(separator: " ")
        case let value?: "\(value)"
        }
    }

    /// What the objects have to be after a migration to `model`, by the rules alone: values go with their names and renaming identifiers.
    func expected(after transition: ModelTransition) -> [String: [String: [String: String]]] {
        var expected: [String: [String: [String: String]]] = [:]
        for entity in transition.destination.entities where !entity.isAbstract {
            let origin = transition.origin(of: entity)?.name
            expected[entity.name ?? ""] = (origin.flatMap { objects[$0] } ?? [:]).mapValues { old in
                entity.propertiesByName.values.filter { !$0.isTransient }.reduce(into: [:]) { values, property in
                    values[property.name] = self.expected(property, entity, old, transition)
                }
            }
        }
        return expected
    }

    /// Nil for what the rules do not say: relationships that are new, or have changed sides.
    private func expected(
        _ property: NSPropertyDescription,
        _ entity: NSEntityDescription,
        _ old: [String: String],
        _ transition: ModelTransition
    ) -> String? {
        let before = transition.origin(of: property, in: entity).flatMap { old[$0.name] }
        if let relationship = property as? NSRelationshipDescription {
            return before.map { remaining($0, of: relationship, in: entity, transition) }
        }
        guard let attribute = property as? NSAttributeDescription else { return nil }
        let value = Self.text(of: attribute.defaultValue)
        guard let before else { return value }
        return before == "[]" && !attribute.isOptional ? value : before
    }

    /// Of the objects at the end of a relationship those that are still what it leads to.
    private func remaining(
        _ targets: String,
        of relationship: NSRelationshipDescription,
        in entity: NSEntityDescription,
        _ transition: ModelTransition
    ) -> String {
        let left = targets.dropFirst().dropLast().components(separatedBy: ", ").compactMap { target -> String? in
            let parts = target.components(separatedBy: "/")
            guard let destination = relationship.destinationEntity, let old = transition.source.entitiesByName[parts[0]],
                let new = transition.successor(of: old), new.isKindOf(entity: destination)
            else { return nil }
            return "\(new.name ?? "")/\(parts[1])"
        }
        return "[\(left.joined(separator: ", "))]"
    }
}

/// Checks a store after a migration: every value, the database, the keys of relationships, and the schema against that of a new store.
func expectMigrated(
    _ url: URL,
    _ before: StoreContents,
    _ transition: ModelTransition,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let after = try StoreContents(url, transition.destination)
    let expected = before.expected(after: transition)
    for (entity, objects) in expected {
        let found = after.objects[entity] ?? [:]
        #expect(Set(found.keys) == Set(objects.keys), "\(entity)", sourceLocation: sourceLocation)
        for (key, values) in objects {
            for (name, value) in values {
                let isOrdered = transition.destination.entitiesByName[entity]?.relationshipsByName[name]?.isOrdered ?? false
                let both = [value, found[key]?[name] ?? "?"].map { isOrdered ? $0 : sorted($0) }
                if isOrdered, sorted(both[0]) != both[0] || both[0] != both[1] {
                    #expect(sorted(both[0]) == sorted(both[1]), "\(entity) \(key) \(name)", sourceLocation: sourceLocation)
                } else {
                    #expect(both[0] == both[1], "\(entity) \(key) \(name)", sourceLocation: sourceLocation)
                }
            }
        }
    }
    let inspector = try StoreInspector(url: url)
    #expect(try inspector.problems() + inspector.problems(with: transition.destination) == [], sourceLocation: sourceLocation)
    try expectSchema(url, of: transition.destination, sourceLocation: sourceLocation)
}

private func sorted(_ text: String) -> String {
    guard text.hasPrefix("[") else { return text }
    return text.dropFirst().dropLast().components(separatedBy: ", ").sorted().joined(separator: ", ")
}

/// Sees whether a file has the tables, columns, indexes and numbers of a new store; the order of columns may be another.
///
/// - Parameter strangers: names of what may be there besides.
func expectSchema(
    _ url: URL,
    of model: NSManagedObjectModel,
    beside strangers: Set<String> = [],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let home = try StoreHome(.file)
    try Stack(home.url(), model).close()
    let (migrated, new) = (try schema(url), try schema(home.url()))
    let known = migrated.filter { line in !strangers.contains { line.contains(" \($0) ") || line.contains(" \($0).") } }
    #expect(Set(known).subtracting(new) == [], "only in the migrated store", sourceLocation: sourceLocation)
    #expect(Set(new).subtracting(migrated) == [], "only in a new store", sourceLocation: sourceLocation)
}

private func schema(_ url: URL) throws -> [String] {
    let connection = try Connection(path: url.path, mode: .readWrite)
    defer { connection.close() }
    let query = """
        SELECT type || ' ' || name || ' ' || replace(CASE type WHEN 'table' THEN '' ELSE sql END, '"', '') FROM sqlite_master WHERE sql IS NOT NULL
        UNION ALL SELECT 'column ' || m.name || '.' || p.name || ' ' || p.type FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'
        UNION ALL SELECT 'entity ' || Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER FROM Z_PRIMARYKEY
        """
    return try connection.rows(query).map { "\($0[0])" }
}

/// Options that a program sets to have its stores migrated.
nonisolated(unsafe) let migrating: [AnyHashable: Any] = [
    // A constant that nothing changes.
    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
]

extension NSManagedObjectModel {
    /// Makes a store with some objects of each entity, all values set and all relationships filled, and closes it.
    func makeFilledStore(at url: URL, countOfEach: Int = 3) throws {
        let stack = try Stack(url, self)
        let context = stack.newContext()
        var all: [NSManagedObject] = []
        for entity in entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
            for _ in 0..<countOfEach {
                let object = NSManagedObject(entity: entity, insertInto: context)
                all.append(object)
                for attribute in entity.attributesByName.values where !attribute.isTransient {
                    if let value = attribute.example(all.count) { object.setValue(value, forKey: attribute.name) }
                }
            }
        }
        for (place, object) in all.enumerated() { object.fillRelationships(from: all, place) }
        try context.save()
        try stack.close()
    }
}

extension NSManagedObject {
    fileprivate func fillRelationships(from all: [NSManagedObject], _ place: Int) {
        for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) where !relationship.isTransient {
            guard let destination = relationship.destinationEntity else { continue }
            let targets = all.filter { $0.entity.isKindOf(entity: destination) }
            guard !targets.isEmpty else { continue }
            if !relationship.isToMany {
                if value(forKey: relationship.name) == nil { setValue(targets[(place + 1) % targets.count], forKey: relationship.name) }
            } else {
                for step in 0..<2 {
                    let target = targets[(place + step) % targets.count]
                    if relationship.isOrdered {
                        mutableOrderedSetValue(forKey: relationship.name).add(target)
                    } else {
                        mutableSetValue(forKey: relationship.name).add(target)
                    }
                }
            }
        }
    }
}

extension NSAttributeDescription {
    fileprivate func example(_ number: Int) -> Any? {
        switch attributeType {
        case .stringAttributeType: "\(name)\(number)"
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number
        case .doubleAttributeType: Double(number) + 0.5
        case .floatAttributeType: Float(number) + 0.5
        case .booleanAttributeType: number % 2 == 0
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number) + 0.25)
        case .binaryDataAttributeType: Data([1, 2, UInt8(number)])
        case .UUIDAttributeType: UUID()
        case .decimalAttributeType: NSDecimalNumber(value: number)
        case .URIAttributeType: URL(string: "http://example.com/\(number)")
        default: nil
        }
    }
}
