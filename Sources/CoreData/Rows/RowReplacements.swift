/// What objects were merged into, for the latest of them: some ten thousand at least, twice as many at most.
struct RowReplacements {
    private static let limit = 1 << 15
    private var recent: [RowReference: RowReference] = [:]
    private var earlier: [RowReference: RowReference] = [:]

    mutating func insert(_ survivor: RowReference, for lost: RowReference) {
        if recent.count == Self.limit { (earlier, recent) = (recent, [:]) }
        recent[Self.known(lost)] = survivor
    }

    subscript(_ reference: RowReference) -> RowReference? {
        let reference = Self.known(reference)
        return recent[reference] ?? earlier[reference]
    }

    /// Replaces survivors by newer forms of their references.
    mutating func update(_ newest: (RowReference) -> RowReference) {
        recent = recent.mapValues(newest)
        earlier = earlier.mapValues(newest)
    }

    /// Temporary keys are unique by themselves; who refers to one may not know the store yet.
    private static func known(_ reference: RowReference) -> RowReference {
        reference.key < 0 ? RowReference(key: reference.key, entity: 0, store: 0) : reference
    }
}
