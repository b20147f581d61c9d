/// The changed objects of a context by the values that they have under uniqueness constraints.
struct WantedValues {
    private struct Key: Hashable {
        /// The index of the root entity: a constraint is about the rows of its table.
        let root: Int
        let constraint: [String]
        let values: [UniqueValue]
    }
    private var objects: [Key: [NSManagedObject]] = [:]
    private var constraints: [Int: [[String]]] = [:]

    init(_ changed: ContiguousArray<NSManagedObject>) {
        for object in changed where object.scope.shape.hasConstraints && object.state.isDisjoint(with: [.deleted, .detached, .rowless]) {
            let root = object.scope.entity.rootEntity
            if constraints[root.index] == nil { constraints[root.index] = Self.constraints(of: root) }
            for key in keys(of: object) where Self.mayHaveNew(object, key.constraint) { objects[key, default: []].append(object) }
        }
    }

    private static func constraints(of root: NSEntityDescription) -> [[String]] {
        Array(Set(([root] + root.allSubentities).flatMap(\.constraintNames))).sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func mayHaveNew(_ object: NSManagedObject, _ constraint: [String]) -> Bool {
        if object.state.contains(.inserted) { return true }
        return constraint.contains { name in object.scope.shape.layout.slotsByName[name].map(object.isChanged) ?? false }
    }

    /// Other objects that have the values of this one, with the constraint that they break.
    func competitors(of object: NSManagedObject) -> [(object: NSManagedObject, constraint: [String])] {
        keys(of: object).flatMap { key in
            // Since they were listed, some may have got other values.
            (objects[key] ?? []).filter { $0 !== object && self.key($0, key.constraint) == key }.map { ($0, key.constraint) }
        }
    }

    private func keys(of object: NSManagedObject) -> [Key] {
        (constraints[object.scope.entity.rootEntity.index] ?? []).compactMap { key(object, $0) }
    }

    /// Nil where a value is missing: such a row is like no other.
    private func key(_ object: NSManagedObject, _ constraint: [String]) -> Key? {
        let (slots, row) = (object.scope.shape.layout.slotsByName, object.currentRow)
        let values = constraint.compactMap { name in slots[name].flatMap { UniqueValue(row.value($0)) } }
        return values.count == constraint.count
            ? Key(root: object.scope.entity.rootEntity.index, constraint: constraint, values: values) : nil
    }
}
