import Foundation

@testable import CoreData

/// Everything that a save may not change where it fails: what can be seen of the objects, and their rows.
enum Picture {
    static func lines(of context: NSManagedObjectContext) -> [String] {
        let tracker = context.tracker
        let head =
            "\(tracker.pendingCount) pending, \(tracker.objects.count) listed, touched: \(tracker.hasTouched), locked: \(tracker.locked.count)"
        return [head] + context.registeredObjects.map(line).sorted()
    }

    private static func line(_ object: NSManagedObject) -> String {
        let row = object.currentRow
        let values = (0..<row.layout.count).map { "\(row.value($0))" }.joined(separator: " ")
        var parts = [
            "\(object.scope.entity.name ?? "?") \(object.key) store \(object.scope.store) state \(String(object.state.rawValue, radix: 16))"
        ]
        parts.append(
            "row \(object.row) key \(row.key) version \(row.version) base \(object.committedRow.map { "\($0.bytes) \($0.version)" } ?? "-")"
        )
        parts.append("changed \(list(object.changedSlots)) noticed \(list(object.noticedSlots)) values \(values)")
        object.existingExtras?.forEachToMany { parts.append(text($0)) }
        return parts.joined(separator: ", ")
    }

    private static func text(_ contents: ToManyContents) -> String {
        func keys(_ list: MemberList?) -> String { list.map { "\($0.array.map(\.key))" } ?? "unread" }
        return "\(contents.index): \(keys(contents.members)) + \(keys(contents.added)) - \(keys(contents.removed)), "
            + "reordered: \(contents.isReordered), new: \(contents.ownerIsNew)"
    }

    private static func list(_ slots: SlotMask) -> [Int] {
        var list: [Int] = []
        slots.forEach { list.append($0) }
        return list
    }
}
