/// The versions that a topmost context has given to rows since its children may have read them: it tells its own saves from those of others.
///
/// Of the latest few thousand rows.
struct SavedVersions {
    /// Versions without a gap: nobody else has saved the row in between.
    struct Run {
        var first: Int32
        /// 0 where only the store knows it.
        var last: Int32
        /// Whether others have saved the row before these, after this context had saved it once.
        var isBroken: Bool
    }

    private static let limit = 8192

    private var runs: [RowReference: Run] = [:]
    /// Those before them, which are dropped next.
    private var earlier: [RowReference: Run] = [:]
    private(set) var hasForgotten = false

    subscript(reference: RowReference) -> Run? { runs[reference] ?? earlier[reference] }

    mutating func note(_ version: Int32, of reference: RowReference) {
        if runs.count >= Self.limit {
            hasForgotten = hasForgotten || !earlier.isEmpty
            (earlier, runs) = (runs, [:])
        }
        let former = self[reference]
        let goesOn = former.map { $0.last != 0 && $0.last == version - 1 } ?? false
        let isBroken = former.map { $0.isBroken || !goesOn } ?? false
        runs[reference] = Run(first: goesOn ? former?.first ?? version : version, last: version, isBroken: isBroken)
    }
}
