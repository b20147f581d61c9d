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

    /// Transactions cut into parts of a size.
    static func parts(of transactions: [NSPersistentHistoryTransaction], size: Int) -> [HistoryPart] {
        var (parts, part) = ([HistoryPart](), HistoryPart())
        for transaction in transactions {
            var start = 0
            while start < transaction.changeCount {
                let end = min(start + size - part.count, transaction.changeCount)
                part.add(transaction, start..<end)
                start = end
                guard part.count == size else { continue }
                parts.append(part)
                part = HistoryPart()
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
