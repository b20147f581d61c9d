import Foundation

/// How a fetch is answered: the statements, what SQLite makes of them, and what is left to be done in memory.
///
/// Printed, it is a table to read.
public struct FetchExplanation: Sendable, Equatable, CustomStringConvertible {
    /// What one store is asked.
    public struct Statement: Sendable, Equatable {
        /// Where the store is.
        public let store: String
        public let sql: String
        /// What stands for the question marks, in order, as SQL writes it.
        public let arguments: [String]
        /// The steps of SQLite's plan (`EXPLAIN QUERY PLAN`); what is part of another step is indented.
        public let plan: [String]
    }

    public internal(set) var statements: [Statement]
    /// What is done in memory, each with its reason.
    public internal(set) var inMemory: [String] = []

    public var description: String {
        let lines = statements.flatMap { statement in
            Self.lines("store", [statement.store]) + Self.lines("sql", [statement.sql]) + Self.lines("arguments", statement.arguments)
                + Self.lines("plan", statement.plan)
        }
        return (lines + Self.lines("in memory", inMemory.isEmpty ? ["nothing"] : inMemory)).joined(separator: "\n")
    }

    private static func lines(_ title: String, _ texts: [String]) -> [String] {
        texts.enumerated().map { index, text in (index == 0 ? title : "").padding(toLength: 11, withPad: " ", startingAt: 0) + text }
    }
}

/// What stores are asked, in the form in which the results are wanted.
package enum ExplainedQuery {
    case objects(FetchQuery)
    case references(FetchQuery)
    case count(FetchQuery)
    case dictionaries(DictionaryQuery)

    var rows: FetchQuery {
        switch self {
        case .objects(let query), .references(let query), .count(let query): query
        case .dictionaries(let query): query.rows
        }
    }
}
