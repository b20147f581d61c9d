import Foundation

/// Objects of one save that a uniqueness constraint keeps apart: they have the same values, or a row of the store has them.
open class NSConstraintConflict: NSObject {
    /// The names of the properties that the constraint is about.
    public let constraint: [String]
    /// The object whose row in the store has the values; nil where only objects of the save have them.
    public let databaseObject: NSManagedObject?
    /// The objects of the save with the values, in the order in which they would be written: those that are in the store first.
    public let conflictingObjects: [NSManagedObject]
    /// The values of the row in the store; nil where there is none.
    public private(set) lazy var databaseSnapshot: [String: Any]? = databaseObject?.attributeSnapshot(of: databaseRow)
    /// For each conflicting object, the values that its changes were made to; empty for one that was never saved.
    public private(set) lazy var conflictingSnapshots: [[AnyHashable: Any]] = conflictingObjects.map {
        $0.state.contains(.inserted) ? [:] : $0.attributeSnapshot(of: $0.committedRow) ?? [:]
    }
    /// The values that the conflicting objects have in common, by property; for relationships, the IDs of their objects.
    public private(set) lazy var constraintValues: [String: Any] = currentValues
    /// The row that has the values; nil where the store has none.
    let databaseRow: Row?

    public init(
        constraint: [String],
        database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?,
        conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        self.constraint = constraint
        self.databaseObject = databaseObject
        self.conflictingObjects = conflictingObjects
        databaseRow = nil
        super.init()
        self.databaseSnapshot = databaseSnapshot as? [String: Any]
        self.conflictingSnapshots = conflictingSnapshots.map { $0 as? [AnyHashable: Any] ?? [:] }
    }

    init(_ breach: ConstraintBreach, _ objects: [ChangeFreezer.Objects], _ context: NSManagedObjectContext) {
        constraint = breach.names
        databaseObject = breach.stored.map { context.object(for: $0.reference, row: $0.row) }
        databaseRow = breach.stored?.row
        conflictingObjects = breach.members.map { member in
            member.isInsert ? objects[member.group].inserted[member.index] : objects[member.group].updated[member.index]
        }
    }

    open override var description: String { "NSConstraintConflict: \(text)" }

    private var currentValues: [String: Any] {
        guard let snapshot = conflictingObjects.first.flatMap({ $0.attributeSnapshot(of: $0.currentRow) }) else { return [:] }
        return snapshot.filter { constraint.contains($0.key) }
    }

    /// The objects may be changed by whoever gets the conflict: it goes on saying what it said.
    func keepValues() { _ = (databaseSnapshot, conflictingSnapshots, constraintValues) }

    /// What an error says of it.
    var text: String {
        let values = constraint.map { "\($0): \(constraintValues[$0] ?? NSNull())" }.joined(separator: ", ")
        let entity = conflictingObjects.first?.scope.entity.name ?? "?"
        let others = databaseObject.map { "\($0.objectID.uriRepresentation().absoluteString) has" } ?? "\(conflictingObjects.count) have"
        return "Of \(entity), \(others) the values {\(values)}."
    }
}
