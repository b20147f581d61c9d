/// Which rows of one store a batch request means, where only memory can tell, and what that rests on.
package struct BatchDecision {
    /// A row of which SQL cannot tell, as it was found.
    package struct Candidate: Equatable {
        package let key: Int64
        /// The index of its entity in the model.
        package let entity: Int
        let version: Int64
    }

    /// All that there were, in the order that SQL gave them.
    package let candidates: [Candidate]
    /// Those that are meant, within limit and offset.
    package let chosen: [Candidate]
    /// The versions of other rows that were read on the way.
    package let premises: [RowReference: Int32]

    package init(candidates: [Candidate], chosen: [Candidate], premises: [RowReference: Int32]) {
        (self.candidates, self.chosen, self.premises) = (candidates, chosen, premises)
    }
}

/// What a store says that cannot go on without a decision, or that finds other rows than those it was made for. Nothing has been written.
package struct UndecidedRows: Error {
    package let store: Int32
    package let candidates: [BatchDecision.Candidate]
    /// Whether their order means nothing: memory has to sort.
    package let sortsInMemory: Bool
    /// Whether others have changed what a decision was about.
    package let isOvertaken: Bool
}
