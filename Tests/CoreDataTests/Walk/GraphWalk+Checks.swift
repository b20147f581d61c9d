import Foundation

@testable import CoreData

/// What has to be so after each step.
extension GraphWalk {
    func reader() throws -> NSManagedObjectContext { try home.context(on: Self.coordinator(home)) }

    /// Makes a context see what others have saved, though nobody has told it.
    func readAnew(_ context: NSManagedObjectContext) throws {
        try context.readAnew()
        context.refreshAllObjects()
    }

    /// The file is sound, whoever has saved last.
    func checkFile() throws {
        guard home.kind == .file else { return try checkReader() }
        let problems = try StoreInspector(url: home.url).problems(with: home.model)
        if !problems.isEmpty { throw fail("the file is wrong: \(problems)") }
    }

    /// What another coordinator finds is sound.
    private func checkReader() throws {
        let reader = try reader()
        let all = try Self.roots.flatMap { try objects($0, reader) }
        try withExtendedLifetime(all) { try checkEnds(reader) }
    }

    /// Each object with the ends of its relationships.
    func picture(_ context: NSManagedObjectContext) throws -> [String] {
        try Self.roots.flatMap { try objects($0, context) }.flatMap { object in
            object.entity.relationshipsByName.values.sorted { $0.name < $1.name }.map { relationship in
                let ends = Self.ends(object, relationship).map(Self.label)
                let inOrder = relationship.isOrdered ? ends : ends.sorted()
                return "\(Self.label(object)).\(relationship.name): \(inOrder.joined(separator: ", "))"
            }
        }
    }

    private static func ends(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        switch object.value(forKey: relationship.name) {
        case let end as NSManagedObject: [end]
        case let ends as NSOrderedSet: ends.array.compactMap { $0 as? NSManagedObject }
        case let ends as Set<NSManagedObject>: Array(ends)
        default: []
        }
    }

    func expect(_ left: [String], _ right: [String], _ when: String) throws {
        guard left != right else { return }
        let lines = Set(left).symmetricDifference(right).sorted().map { (Set(left).contains($0) ? "here  " : "there ") + $0 }
        throw fail("\(when):\n\(lines.joined(separator: "\n"))")
    }

    /// Both ends of each relationship say the same, and nobody leads to who is deleted.
    func checkEnds(_ context: NSManagedObjectContext) throws {
        context.processPendingChanges()
        for object in context.registeredObjects where !object.isDeleted && !object.isFault {
            for relationship in object.entity.relationshipsByName.values {
                guard let inverse = relationship.inverseRelationship else { continue }
                for end in Self.ends(object, relationship) where end.isDeleted || !Self.ends(end, inverse).contains(object) {
                    let what = end.isDeleted ? "is deleted" : "does not lead back"
                    throw fail("\(number(context)): \(Self.label(object)).\(relationship.name) is \(Self.label(end)), which \(what)")
                }
            }
        }
    }
}
