import Foundation

extension NSManagedObjectContext {
    /// Reads relationships of many objects, level by level: one statement for each relationship that has not been read, and one for all rows of
    /// to-one targets that are not at hand.
    ///
    /// The objects hold what was read, until they are refreshed or become faults.
    func prefetch(_ paths: PrefetchPaths, of objects: [NSManagedObject]) throws {
        if paths.isEmpty || objects.isEmpty { return }
        let groups = Dictionary(grouping: objects) { ObjectIdentifier($0.scope) }
        for branch in paths.branches {
            let targets = try prefetch(branch.key, of: objects, groups)
            if !branch.rest.isEmpty { try prefetch(branch.rest, of: targets()) }
        }
    }

    /// - Returns: the objects that the relationship leads to, each once.
    private func prefetch(
        _ key: String,
        of objects: [NSManagedObject],
        _ groups: [ObjectIdentifier: [NSManagedObject]]
    ) throws -> () -> [NSManagedObject] {
        var owners: [ObjectIdentifier: (relationship: NSRelationshipDescription, index: Int, objects: [NSManagedObject])] = [:]
        var sources: [(slot: Int, objects: [NSManagedObject])] = []
        for group in groups.values {
            switch group[0].scope.shape.properties[key] {
            case .toOne(let slot, _)?: sources.append((slot, group))
            case .toMany(let index, let relationship)?:
                owners[ObjectIdentifier(relationship), default: (relationship, index, [])].objects += group
            // An entity that does not have what others among the results have.
            default: break
            }
        }
        for (relationship, index, objects) in owners.values {
            try read(relationship, index, of: objects.filter { $0.lacksMembers(index) })
        }
        let partners = try prefetchTargets(of: sources)
        return { Self.distinct(partners + owners.values.flatMap { owners in owners.objects.flatMap { $0.knownMembers(owners.index) } }) }
    }

    private static func distinct(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        var known: Set<ObjectIdentifier> = []
        known.reserveCapacity(objects.count)
        return objects.filter { known.insert(ObjectIdentifier($0)).inserted }
    }

    /// - Returns: the target of each object that has one.
    private func prefetchTargets(of sources: [(slot: Int, objects: [NSManagedObject])]) throws -> [NSManagedObject] {
        try readRows(of: sources.flatMap(\.objects))
        var targets: [NSManagedObject] = []
        for (slot, objects) in sources {
            for object in objects where object.state.isDisjoint(with: [.rowless, .deleted, .detached]) {
                guard let reference = object.currentRow.reference(slot) else { continue }
                let target = self.object(for: reference)
                object.extras.hold(target, slot)
                targets.append(target)
            }
        }
        try readRows(of: Self.distinct(targets.filter { $0.state.contains(.rowless) }))
        return targets
    }

    /// Gives rows to those objects that have none: one statement for all that are not at hand. What has no row stays as it is.
    func readRows(of objects: [NSManagedObject]) throws {
        let excluded: ObjectState = .pending.union(.detached)
        let missing = objects.filter {
            $0.state.contains(.rowless) && $0.state.isDisjoint(with: excluded) && $0.key > 0 && !$0.isForeign
        }
        // Keys are those of one tree of entities.
        for group in Dictionary(grouping: missing, by: { $0.scope.root }).values {
            let (above, count) = (registry.changesAbove, registry.changesAbove?.count ?? 0)
            let rows = try parentSource.rows(for: group.map(\.rowReference))
            catchUp()
            for (object, row) in zip(group, rows) {
                guard let row, object.state.contains(.rowless), row.layout === object.scope.shape.layout else { continue }
                above?.noteNewest(row, at: count, write: row.listing?.write)
                adopt(row, object)
            }
        }
    }
}

extension NSManagedObject {
    /// Whether the store has to be asked for the members.
    fileprivate final func lacksMembers(_ index: Int) -> Bool {
        state.isDisjoint(with: [.detached, .deleted, .inaccessible]) && contents(index).members == nil
    }

    fileprivate final func knownMembers(_ index: Int) -> [NSManagedObject] { existingContents(index)?.members?.array ?? [] }
}
