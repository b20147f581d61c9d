import Foundation

/// What is done without objects: entities of which all values stay what they are.
extension MigrationRun {
    /// Copies all objects of a mapping that only copies.
    ///
    /// - Returns: whether it was done.
    func copyRows(_ mapping: PlannedMapping) throws -> Bool {
        guard let rows, let entity = mapping.copiedEntity, let number = plan.mappings.firstIndex(where: { $0 === mapping }) else {
            return false
        }
        let (old, new) = (
            RowReference(key: 0, entity: Int32(entity.source.index), store: source.store.number),
            RowReference(key: 0, entity: Int32(entity.destination.index), store: destination.store.number)
        )
        let count = mapping.associations.savedCount
        let isDone = try naming(mapping) {
            try rows.copy(entity, mapping: number, progress: { try manager.note(progress(.creation, $0)) }) {
                mapping.associations.add(old.with($0), new.with($1))
            }
        }
        if isDone { mapping.noteCopied(from: count) }
        return isDone
    }

    /// Sets the relationships of objects that were copied, as far as no object is needed for that.
    func relateRows(_ mapping: PlannedMapping) throws {
        guard let rows, mapping.copied != nil, !mapping.relationships.isEmpty else { return }
        try noteAssociations(rows)
        let done = try naming(mapping) {
            try mapping.relationships.filter { assignment in
                try copiedRelationship(assignment, mapping).map(rows.relate) ?? false
            }
        }
        mapping.leaveOut(done.map(\.property))
    }

    /// Tells the database what became of what since it was told last.
    private func noteAssociations(_ rows: RowCopy) throws {
        for (number, mapping) in plan.mappings.enumerated() where mapping.notedCount < mapping.associations.savedCount {
            if let copied = mapping.copied, mapping.notedCount <= copied.lowerBound {
                try note(mapping, upTo: copied.lowerBound, number, rows)
                try rows.noteCopied(by: number)
                mapping.notedCount = copied.upperBound
            }
            try note(mapping, upTo: mapping.associations.savedCount, number, rows)
        }
    }

    private func note(_ mapping: PlannedMapping, upTo end: Int, _ number: Int, _ rows: RowCopy) throws {
        for start in stride(from: mapping.notedCount, to: end, by: Self.notedAtOnce) {
            try rows.note(mapping.associations.pairs(start..<min(start + Self.notedAtOnce, end)), mapping: number)
        }
        mapping.notedCount = end
    }

    private static let notedAtOnce = 10_000

    private func copiedRelationship(_ assignment: PropertyAssignment, _ mapping: PlannedMapping) -> CopiedRelationship? {
        guard let relationship = assignment.property as? NSRelationshipDescription, let followed = assignment.followed,
            relationship.keepsPairs(of: followed), followsOn(assignment),
            let number = plan.mappings.firstIndex(where: { $0 === mapping }),
            mapping.copied == 0..<mapping.associations.savedCount
        else { return nil }
        let targets = assignment.throughMapping.map { name in plan.mappings.firstIndex { $0.name == name } }
        if case .some(nil) = targets { return nil }
        return CopiedRelationship(
            relationship: relationship,
            followed: followed,
            mapping: number,
            targets: targets ?? nil
        )
    }

    private func naming<Result>(_ mapping: PlannedMapping, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let cancellation as MigrationCancellation {
            throw cancellation
        } catch {
            throw CocoaError.migration(
                "Entity mapping \(mapping.name): \(error.localizedDescription)",
                entity: mapping.destination?.name,
                property: (error as? CocoaError)?.userInfo["property"] as? String,
                mapping: mapping.name,
                error
            )
        }
    }
}

extension RowReference {
    fileprivate func with(_ key: Int64) -> RowReference { RowReference(key: key, entity: entity, store: store) }
}

extension NSRelationshipDescription {
    /// Whether everything that another relationship can lead to has room in this one, at both ends.
    fileprivate func keepsPairs(of other: NSRelationshipDescription) -> Bool {
        guard !isTransient, !other.isTransient, isToMany || !other.isToMany else { return false }
        let hasOneOwner = other.inverse.map { !$0.isToMany } ?? other.isToMany
        return hasOneOwner || inverse.map(\.isToMany) ?? !isToMany
    }
}
