/// How much SQLite takes in one statement. A build of it may have others: these are below what stock ones have.
enum SQLLimits {
    /// The parameters of a fetch. "The maximum number of parameters in a statement" is 32,766.
    static let parameters = 30_000
    /// The values of a statement that has to run on old versions too, which take 999.
    static let parametersAnywhere = 900
    /// Each level of an expression takes at least one place of the parser's stack, of which there are 100.
    static let nesting = 100
    /// So many parentheses in each other any SQLite takes, whatever stands between them.
    static let harmlessNesting = 6
    /// So many parts of `a AND b AND c …` stand side by side. Each is one level of an expression, of which 1,000 are allowed.
    static let chainedParts = 100
    /// "The maximum number of tables in a join" is 64, of which one is the statement's own.
    static let joinedTables = 63
}
