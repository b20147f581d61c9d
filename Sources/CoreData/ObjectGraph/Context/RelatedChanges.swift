import Foundation
import Predicates

/// Finds the objects for which a fetch reads unsaved changes of *other* objects, across relationships.
///
/// A changed link counts as a change of both its ends. So whoever is affected reaches a changed object along a path that is read, by links
/// as they are now; the inverses lead back.
struct RelatedChanges {
    let context: NSManagedObjectContext
    let pending: [NSManagedObject]

    /// The objects of `entity` that are affected; nil where a relationship has no inverse to follow: then it may be any.
    func owners(of entity: NSEntityDescription, reading paths: ReadPaths) -> Set<NSManagedObject>? {
        var owners: Set<NSManagedObject> = []
        for path in paths.paths {
            let steps = Self.steps(path, entity)
            for end in steps.indices {
                let changed = changes(at: steps[end])
                guard !changed.isEmpty else { continue }
                guard let found = walk(back: changed, steps[...end]) else { return nil }
                // A deleted object may go on listing one that has left.
                owners.formUnion(found.filter { $0.scope.entity.isKindOf(entity: entity) && $0.registeredContext === context })
            }
        }
        return owners
    }

    /// The entities, by index, of which changes count for a fetch of `entity` that reads `paths`.
    static func entities(on paths: ReadPaths, of entity: NSEntityDescription) -> Set<Int> {
        Set(paths.paths.flatMap { steps($0, entity).flatMap(\.relationship.destination.subtree) })
    }

    private struct Step {
        let relationship: NSRelationshipDescription
        /// Whether something is read from the objects that the relationship leads to, not only which ones they are.
        let isReadBehind: Bool
    }

    /// The relationships on a path. What is no relationship ends it, but for collection operators.
    private static func steps(_ path: [String], _ entity: NSEntityDescription) -> [Step] {
        var steps: [Step] = []
        var entity = entity
        let keys = path.filter { !$0.hasPrefix("@") && $0 != "self" && $0 != "SELF" }
        for (index, key) in keys.enumerated() {
            guard let relationship = entity.propertiesByName[key] as? NSRelationshipDescription else { break }
            steps.append(Step(relationship: relationship, isReadBehind: index + 1 < keys.count))
            entity = relationship.destination
        }
        return steps
    }

    private func changes(at step: Step) -> Set<NSManagedObject> {
        let subtree = step.relationship.destination.subtree
        return Set(
            pending.filter { object in
                subtree.contains(object.scope.entity.index) && (step.isReadBehind || object.state.contains(.deleted))
            }
        )
    }

    private func walk(back objects: Set<NSManagedObject>, _ steps: ArraySlice<Step>) -> Set<NSManagedObject>? {
        var objects = objects
        for step in steps.reversed() {
            guard let inverse = step.relationship.inverse else { return nil }
            objects = targets(of: inverse, from: objects)
        }
        return objects
    }

    private func targets(of relationship: NSRelationshipDescription, from objects: Set<NSManagedObject>) -> Set<NSManagedObject> {
        var targets: Set<NSManagedObject> = []
        for group in Dictionary(grouping: objects, by: { ObjectIdentifier($0.scope) }).values {
            switch group[0].scope.shape.properties[relationship.name] {
            case .toOne(let slot, _)?: targets.formUnion(group.compactMap { $0.target(slot) })
            case .toMany(let index, let relationship)?:
                // One statement for all whose members have not been read.
                context.realize(relationship, index, of: group.filter { $0.existingContents(index)?.members == nil })
                for object in group { targets.formUnion(object.members(of: index)) }
            default: break
            }
        }
        return targets
    }
}
