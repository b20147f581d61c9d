import CSQLite
import Foundation
import SQLiteDriver

/// SQLite's own words in the statements of fetches, saves and batch requests: another database would say the same in others.
enum SQLDialect {
    // MARK: Lists

    /// The elements of a list that is one parameter, as JSON: one statement for any number of them.
    static let list = "(SELECT value FROM json_each(?))"
    /// The same, where the list is the first parameter and may be named more than once.
    static let firstList = "(SELECT value FROM json_each(?1))"
    /// The list that is the second parameter.
    static let secondList = "(SELECT value FROM json_each(?2))"
    /// A list that is one parameter as a table, whose column is `value`.
    static let listTable = "json_each(?)"
    /// The first parameter as a table, whose column is `value`.
    static let firstListTable = "json_each(?1)"

    // MARK: Writing

    /// The rows before one that breaks a constraint stay.
    ///
    /// NB: a statement that has to take several rows back keeps the old content of every page that it changes, in a temporary file: with indexes,
    /// that is many times what it writes.
    static let insertUpToFailure = "INSERT OR FAIL"
    /// What is there already stays.
    static let insertMissing = "INSERT OR IGNORE"
    static let updateUpToFailure = "UPDATE OR FAIL"

    /// What an INSERT does with a row that has the same values in unique columns; nothing where there are no assignments.
    ///
    /// - Parameter refusal: what makes it fail instead where it is true, also where there are no assignments.
    static func onConflict(_ columns: [String], _ assignments: [String], unless refusal: String?) -> String {
        let conflict = " ON CONFLICT(\(columns.joined(separator: ", "))) DO "
        if assignments.isEmpty, refusal == nil { return conflict + "NOTHING" }
        // NB: NOTHING takes no condition.
        let (written, isWritten) = assignments.isEmpty ? ("\(SQLNames.key) = \(SQLNames.key)", 0) : (assignments.joined(separator: ", "), 1)
        let refused = refusal.map { " WHERE CASE WHEN \($0) THEN \(failure) ELSE \(isWritten) END" } ?? ""
        return "\(conflict)UPDATE SET \(written)\(refused)"
    }

    /// The value that such an INSERT would have written.
    static func proposed(_ column: String) -> String { "excluded.\(column)" }

    static func returning(_ columns: String) -> String { " RETURNING \(columns)" }

    // MARK: Deriving

    /// What the names of all triggers of derived attributes begin with.
    static let derivationPrefix = "Z_DA_"
    static let now = SQLFunctions.now + "()"

    static func orZero(_ value: String) -> String { "IFNULL(\(value), 0)" }

    static func name(of function: Derivation.Function) -> String {
        switch function {
        case .canonical: SQLFunctions.canonical
        case .uppercase: "upper"
        case .lowercase: "lower"
        }
    }

    /// Tells the connection of the rows that a trigger has written; the condition follows.
    static func report(isInsert: Bool, table: String, attribute: String, column: String) -> String {
        let function = SQLFunctions.reports[isInsert ? 1 : 0]
        let name = attribute.replacingOccurrences(of: "'", with: "''")
        return "SELECT \(function)('\(table)', \(SQLNames.entity), \(SQLNames.key), '\(name)', \(column)) FROM \(table)"
    }

    // MARK: Comparing

    /// Never unknown: NULL is the same as NULL.
    static func isSame(_ left: String, _ right: String) -> String { "\(left) IS \(right)" }

    static func isOther(_ left: String, _ right: String) -> String { "\(left) IS NOT \(right)" }

    /// As the bytes are, whatever the column says.
    static let byBytes = "COLLATE BINARY"

    // MARK: Planning

    /// Before an expression that no index is to be used for.
    static let withoutIndex = "+"
    /// Between tables that are read in the order in which they stand.
    static let joinInOrder = "CROSS JOIN"

    /// ` LIMIT ? OFFSET ?`; 0 for none. An offset needs a limit, of which -1 is none.
    static func window(limit: Int, offset: Int) -> SQLText {
        let limited = SQLiteValue.integer(limit > 0 ? Int64(limit) : -1)
        if offset > 0 { return SQLText(sql: " LIMIT ? OFFSET ?", parameters: [limited, .integer(Int64(offset))]) }
        return limit > 0 ? SQLText(sql: " LIMIT ?", parameters: [limited]) : SQLText()
    }

    // MARK: Versions

    /// Advances the version. A column takes values of any type: what others have written that is no number counts as 0.
    /// A fraction stays one, and is read without it.
    ///
    /// As `ifnull(CAST …)` in `anyVersion` has it, and `UpdateWriter` of rows that were read.
    static let advanceVersion = "Z_OPT = CASE WHEN Z_OPT < \(Int64.max) THEN Z_OPT + 1 ELSE 1 END"
    /// The same for rows that were never read: what is no integer begins anew.
    static let advanceUnreadVersion = "Z_OPT = CASE WHEN typeof(Z_OPT) = 'integer' AND Z_OPT < \(Int64.max) THEN Z_OPT + 1 ELSE 1 END"
    /// What reading makes of the version that stands there.
    static let anyVersion = "ifnull(CAST(Z_OPT AS INTEGER), 0)"

    // MARK: Failing

    /// An expression that fails where it is evaluated: a number of rows must be one.
    ///
    /// NB: no function, which anybody may call where an error is to be taken back: SQLite would keep the old content of each page that the
    /// statement changes, a sixth of the time of an update. So rows may have been written when it fails.
    static let failure = "1 IN (SELECT 1 LIMIT 'misfit')"
    /// Whether an error is that.
    static func isFailure(_ error: SQLiteError) -> Bool { error.code == SQLITE_MISMATCH }
}
