import Foundation

/// Some changes of a history, one behind the other: what is merged at once. Their IDs are made when they are asked for.
package struct HistoryPart: Sendable {
    /// Which changes of which transactions.
    private var pieces: [(transaction: NSPersistentHistoryTransaction, changes: Range<Int>)] = []
    private var count = 0

    /// All changes of some transactions.
    init(_ transactions: [NSPersistentHistoryTransaction]) {
        for transaction in transactions { add(transaction, 0..<transaction.changeCount) }
    }

    private init() {}

    /// Transactions cut into parts of a size, of each one the deletes last.
    ///
    /// NB: whoever merges a delete carries it along its rules. What does not refer to the object any more has to be known by then, or is deleted, too.
    static func parts(of transactions: [NSPersistentHistoryTransaction], size: Int) -> [HistoryPart] {
        var (parts, part) = ([HistoryPart](), HistoryPart())
        for transaction in transactions {
            for var rest in transaction.runs(ofDeletes: false) + transaction.runs(ofDeletes: true) {
                while !rest.isEmpty {
                    let piece = rest.prefix(size - part.count)
                    part.add(transaction, piece)
                    rest = piece.endIndex..<rest.endIndex
                    guard part.count == size else { continue }
                    parts.append(part)
                    part = HistoryPart()
                }
            }
        }
        return part.count > 0 ? parts + [part] : parts
    }

    private mutating func add(_ transaction: NSPersistentHistoryTransaction, _ changes: Range<Int>) {
        pieces.append((transaction, changes))
        count += changes.count
    }

    /// As one change, in the form that `mergeChanges(fromRemoteContextSave:into:)` takes.
    package var changes: [AnyHashable: Any] {
        var (present, deleted): ([NSManagedObjectID: (inserted: Bool, updated: Bool)], Set<NSManagedObjectID>) = ([:], [])
        for piece in pieces {
            piece.transaction.forEachChange(in: piece.changes) { id, kind in
                if kind == .delete {
                    present[id] = nil
                    deleted.insert(id)
                } else {
                    let isBack = deleted.remove(id) != nil
                    var kinds = present[id] ?? (false, false)
                    if kind == .insert { kinds.inserted = true }
                    if kind == .update || isBack { kinds.updated = true }
                    present[id] = kinds
                }
            }
        }
        return [
            NSInsertedObjectIDsKey: Set(present.lazy.filter(\.value.inserted).map(\.key)),
            NSUpdatedObjectIDsKey: Set(present.lazy.filter(\.value.updated).map(\.key)),
            NSDeletedObjectIDsKey: deleted,
        ]
    }
}
