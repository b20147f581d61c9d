/// How a transaction takes its locks.
public enum TransactionKind: String, Sendable {
    case deferred = "BEGIN DEFERRED"
    case immediate = "BEGIN IMMEDIATE"
}

extension Connection {
    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    ///
    /// - Throws: the error of `body`, or of BEGIN or COMMIT; in each case nothing has been written.
    public func transaction<Result>(_ kind: TransactionKind, _ body: () throws -> Result) throws -> Result {
        try run(kind.rawValue)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs `body` in a savepoint: kept when it returns, undone when it throws. The surrounding transaction stays open.
    public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try run("SAVEPOINT step")
        do {
            let result = try body()
            try run("RELEASE step")
            return result
        } catch {
            // Fails only where SQLite has already rolled the whole transaction back, and the savepoint with it.
            try? run("ROLLBACK TO step")
            try? run("RELEASE step")
            throw error
        }
    }

    private func rollBack() {
        guard isInTransaction else { return }
        // After an I/O error SQLite may have rolled back by itself; then there is nothing left to undo.
        try? run("ROLLBACK")
    }
}
