import Foundation

/// An object whose row was changed by others between its last fetch or save and this save.
open class NSMergeConflict: NSObject {
    public let sourceObject: NSManagedObject
    /// The values that the object's changes were made to.
    public let objectSnapshot: [String: Any]?
    /// The values in the row cache.
    public let cachedSnapshot: [String: Any]?
    /// The values in the store, where it is ahead of the row cache; nil otherwise and where the row is gone.
    public let persistedSnapshot: [String: Any]?
    /// 0 where the row is gone.
    public let newVersionNumber: Int
    public let oldVersionNumber: Int
    /// The row to merge with; nil where it is gone.
    let currentRow: Row?

    public init(
        source: NSManagedObject,
        newVersion: Int,
        oldVersion: Int,
        cachedSnapshot: [String: Any]?,
        persistedSnapshot: [String: Any]?
    ) {
        sourceObject = source
        objectSnapshot = source.committedValues(forKeys: nil)
        self.cachedSnapshot = cachedSnapshot
        self.persistedSnapshot = persistedSnapshot
        newVersionNumber = newVersion
        oldVersionNumber = oldVersion
        currentRow = nil
    }

    open override var description: String { text }

    init(_ conflict: RowConflict, object: NSManagedObject) {
        sourceObject = object
        let committed = object.attributeSnapshot(of: object.committedRow)
        objectSnapshot = committed
        let current = object.attributeSnapshot(of: conflict.current)
        cachedSnapshot = conflict.isStoreAhead ? committed : current
        persistedSnapshot = conflict.isStoreAhead ? current : nil
        newVersionNumber = Int(conflict.currentVersion)
        oldVersionNumber = Int(conflict.baseVersion)
        currentRow = conflict.current
    }
}

extension NSMergeConflict {
    /// What Apple's say of themselves.
    fileprivate var text: String {
        let rows = persistedSnapshot.map { [("old cached row", cachedSnapshot), ("new database row", $0)] }
        let sides = (rows ?? [("old object snapshot", objectSnapshot), ("new cached row", cachedSnapshot)]).map { name, snapshot in
            "and \(name) = \(snapshot.map(NSManagedObject.debugText(of:)) ?? "nil")"
        }
        return "NSMergeConflict for \(sourceObject.objectID) with oldVersion = \(oldVersionNumber) and newVersion = \(newVersionNumber) "
            + sides.joined(separator: " ")
    }
}

extension NSManagedObject {
    fileprivate static func debugText(of snapshot: [String: Any]) -> String {
        "{\(snapshot.sorted { $0.key < $1.key }.map { "\($0.key): \(debugText(of: $0.value))" }.joined(separator: ", "))}"
    }

    /// A row as a snapshot shows it: attributes, and the IDs of to-one targets; nil as `NSNull`.
    final func attributeSnapshot(of row: Row?) -> [String: Any]? {
        guard let row else { return nil }
        var values: [String: Any] = [:]
        for (slot, property) in row.layout.slots.enumerated() where property.kind != .position {
            if let reference = property.kind == .reference ? row.reference(slot) : nil {
                values[property.name] = registeredContext?.object(for: reference).objectID
            } else {
                values[property.name] = scope.shape.attributes[slot].flatMap { readable(row.value(slot), $0) } ?? NSNull()
            }
        }
        return values
    }
}
