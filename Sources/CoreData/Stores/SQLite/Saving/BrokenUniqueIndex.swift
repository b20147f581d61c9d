import CSQLite
import Foundation
import SQLiteDriver

/// A statement of a save broke a unique index; SQLite does not say which rows have the values.
struct BrokenUniqueIndex: Error {
    /// What to report where no constraint of the model explains it.
    let error: CocoaError

    /// What a save throws for a failed statement.
    static func error(for error: SQLiteError, _ entity: NSEntityDescription) -> any Error {
        let reported = CocoaError.coreData(
            .managedObjectConstraintMerge,
            "Saving a \(entity.name ?? "?") would break a constraint of the file: \(error.message).",
            userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)]
        )
        return error.isBrokenUniqueIndex ? BrokenUniqueIndex(error: reported) : reported
    }
}

extension SQLiteError {
    // NB: SQLITE_CONSTRAINT_UNIQUE, a macro that Swift does not import.
    var isBrokenUniqueIndex: Bool { extendedCode == SQLITE_CONSTRAINT | (8 << 8) }
}

extension SQLEntity {
    /// The properties whose columns the message about a broken unique index names; where there are none of the model, the message.
    func unique(in error: SQLiteError) -> String {
        let places = error.message.components(separatedBy: ": ").last?.components(separatedBy: ", ") ?? []
        let names = columns.filter { places.contains("\(table).\($0.value.name)") }.keys.sorted(by: binaryOrder)
        return names.isEmpty ? error.message : names.joined(separator: ", ")
    }
}
