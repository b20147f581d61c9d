/// The rows that triggers have told of, by two numbers.
final class RowReport {
    var rows: [(Int64, Int64)] = []
}

extension Connection {
    /// The rows that triggers have told of since this was last asked, in order, and perhaps more than once.
    ///
    /// - Complexity: O(rows).
    public func takeReportedRows() -> [(Int64, Int64)] {
        defer { report.rows = [] }
        return report.rows
    }
}
