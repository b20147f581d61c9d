import SQLiteDriver

/// SQL under construction, with its parameters in the order of their question marks.
struct SQLText: Equatable {
    var sql = ""
    var parameters: [SQLiteValue] = []

    mutating func append(_ sql: String) { self.sql += sql }

    mutating func append(_ other: SQLText) {
        sql += other.sql
        parameters += other.parameters
    }

    mutating func append(parameter: SQLiteValue) {
        sql += "?"
        parameters.append(parameter)
    }

    /// `?, ?, ?`
    mutating func append(parameters values: [SQLiteValue]) {
        for (index, value) in values.enumerated() {
            if index > 0 { sql += ", " }
            append(parameter: value)
        }
    }

    /// The parts with `separator` between them.
    ///
    /// NB: `a AND b AND c` is one level of an expression for each part: long lists become a balanced tree.
    mutating func append(_ parts: ArraySlice<SQLText>, separator: String) {
        if parts.count <= SQLLimits.chainedParts {
            for (index, part) in parts.enumerated() {
                if index > 0 { append(separator) }
                append(part)
            }
            return
        }
        let middle = parts.startIndex + parts.count / 2
        append("(")
        append(parts[..<middle], separator: separator)
        append(")")
        append(separator)
        append("(")
        append(parts[middle...], separator: separator)
        append(")")
    }
}

/// Thrown for what SQL cannot say, or not with the meaning that it has in memory. Never leaves the planning of a fetch.
struct BeyondSQL: Error {}
