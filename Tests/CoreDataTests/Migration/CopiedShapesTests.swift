import Foundation
import TestSupport
import Testing

@testable import CoreData

/// One relationship with its inverse: how much has room at either end.
private struct Ends: CustomStringConvertible {
    enum Inverse: CaseIterable { case none, one, many, ordered }

    let isToMany: Bool
    let isOrdered: Bool
    let inverse: Inverse

    var description: String { "\(isToMany ? isOrdered ? "ordered" : "many" : "one")/\(inverse)" }

    static let all = [(false, false), (true, false), (true, true)].flatMap { end in
        Inverse.allCases.map { Ends(isToMany: end.0, isOrdered: end.1, inverse: $0) }
    }
}

@Suite("Relationships of entities that are only copied, whatever they were")
struct CopiedShapesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        CountingPolicy.register()
    }

    /// The third entity is there to have a policy: all others go as rows.
    private func model(_ ends: Ends, isNew: Bool) -> NSManagedObjectModel {
        let (left, right) = (NSEntityDescription("Left", attribute("n")), NSEntityDescription("Right", attribute("n")))
        let other = NSEntityDescription("Other", attribute("n"))
        if isNew { other.properties.append(attribute("note")) }
        let relationship = left.relate("ends", to: right, many: ends.isToMany, ordered: ends.isOrdered)
        if ends.inverse != .none {
            let back = right.relate("back", to: left, many: ends.inverse != .one, ordered: ends.inverse == .ordered)
            (relationship.inverseRelationship, back.inverseRelationship) = (back, relationship)
        }
        return NSManagedObjectModel(left, right, other)
    }

    private func fill(_ url: URL, _ model: NSManagedObjectModel, _ ends: Ends) throws {
        let stack = try Stack(url, model)
        let context = stack.newContext()
        func make(_ entity: String, _ count: Int) -> [NSManagedObject] {
            (0..<count).map { number in
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue("\(entity)\(number)", forKey: "n")
                return object
            }
        }
        let (left, right) = (make("Left", 4), make("Right", 5))
        _ = make("Other", 1)
        for (number, object) in left.dropLast().enumerated() {
            let targets = [right[(number * 2 + 1) % 5], right[(number + 3) % 5], right[number]]
            switch (ends.isToMany, ends.isOrdered) {
            case (false, _): object.setValue(right[number / 2], forKey: "ends")
            case (true, false): object.setValue(NSSet(array: targets), forKey: "ends")
            case (true, true): object.setValue(NSOrderedSet(array: targets), forKey: "ends")
            }
        }
        try context.save()
        try stack.close()
    }

    /// What each object leads to, in no order: where there was none, any is right.
    private func links(_ url: URL, _ model: NSManagedObjectModel) throws -> [String] {
        let stack = try Stack(url, model)
        let context = stack.newContext()
        let lines = try ["Left", "Right"].flatMap { entity in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                let links = object.entity.relationshipsByName.keys.sorted().map { key in
                    let members = (object.value(forKey: key) as? NSOrderedSet)?.array ?? (object.value(forKey: key) as? NSSet)?.allObjects
                    let targets = members ?? (object.value(forKey: key).map { [$0] } ?? [])
                    return "\(key) \(targets.compactMap { ($0 as? NSManagedObject)?.value(forKey: "n") as? String }.sorted())"
                }
                return "\(object.value(forKey: "n") ?? "") " + links.joined(separator: ", ")
            }
        }
        try stack.close()
        return lines.sorted()
    }

    // * A relationship of each kind becomes one of each kind for which a mapping can be inferred.
    // => The links are the same, as rows and object by object, and the store is whole.
    @Test("become what they become object by object")
    func everyChange() throws {
        var count = 0
        for (number, before) in Ends.all.enumerated() {
            let old = model(before, isNew: false)
            let url = folder.file("Old\(number).sqlite")
            try fill(url, old, before)
            for after in Ends.all {
                let new = model(after, isNew: true)
                guard let mapping = try? NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new) else { continue }
                let (rows, objects) = (try migrate(url, old, new, mapping, bySQL: true), try migrate(url, old, new, mapping, bySQL: false))
                #expect(rows == objects, "\(before) → \(after)")
                count += 1
            }
        }
        #expect(count == 98)
    }

    private func migrate(_ url: URL, _ old: NSManagedObjectModel, _ new: NSManagedObjectModel, _ mapping: NSMappingModel, bySQL: Bool)
        throws
        -> [String]
    {
        for entity in mapping.entityMappings where entity.sourceEntityName == "Other" {
            entity.entityMigrationPolicyClassName = NSStringFromClass(CountingPolicy.self)
        }
        let destination = folder.file("\(UUID().uuidString).sqlite")
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = bySQL
        try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        #expect(try StoreInspector(url: destination).problems() == [])
        return try links(destination, new)
    }
}
