import Foundation
import SQLiteDriver

/// The highest position given out so far in one ordered relationship's column: what is appended goes behind it.
///
/// Used on the writing connection only, in its transaction.
final class OrderMark {
    private let maximum: String
    fileprivate(set) var highest: Int64?

    private let column: String

    init(table: String, column: String) {
        maximum = "SELECT MAX(\(column)) FROM \(table)"
        self.column = "\(table).\(column)"
    }

    /// The next position.
    @inline(__always) func next(_ connection: Connection) throws -> Int64 {
        let (next, isBeyond) = try (highest ?? read(connection)).addingReportingOverflow(OrderKeys.spacing)
        if isBeyond { throw full() }
        highest = next
        return next
    }

    @inline(never) private func full() -> CocoaError {
        .coreData(.persistentStoreSave, "\(column) has no positions left behind the last: set the order of its objects anew in the file.")
    }

    private func read(_ connection: Connection) throws -> Int64 {
        guard case .integer(let maximum)? = try connection.rows(maximum).first?.first else { return OrderKeys.spacing }
        return maximum
    }

    /// A position was given out by its owner.
    @inline(__always) func note(_ position: Int64) {
        if let highest, highest < position { self.highest = position }
    }
}

/// The marks of all ordered relationships of a store.
final class OrderMarks {
    private var marks: [String: OrderMark] = [:]

    func mark(table: String, column: String) -> OrderMark {
        let name = "\(table).\(column)"
        if let mark = marks[name] { return mark }
        let mark = OrderMark(table: table, column: column)
        marks[name] = mark
        return mark
    }

    /// Forgets all positions: a rollback took some back, or others may have overtaken them.
    func forget() { for mark in marks.values { mark.highest = nil } }
}
