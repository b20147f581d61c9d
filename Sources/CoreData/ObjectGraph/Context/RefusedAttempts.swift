/// The attempts of one save that met conflicts, which a policy has resolved each time.
struct RefusedAttempts {
    /// Attempts that change nothing about what they meet: the policy does not resolve it.
    private static let maximumRepetitions = 3
    /// Others may go on changing the same rows. A policy that resolves every conflict should not fail for that, but no save goes on for ever.
    private static let maximum = 100

    private var count = 0
    private var repetitions = 0
    private var latest: [Met] = []
    private var ends: [@Sendable () -> Void] = []

    private enum Met: Equatable {
        case row(RowReference, version: Int32)
        case values([String], objects: Int, stored: RowReference?)
    }

    var areEnough: Bool { repetitions >= Self.maximumRepetitions || count >= Self.maximum }

    mutating func note(_ conflicts: SaveConflicts) {
        let met =
            conflicts.conflicts.map { Met.row($0.reference, version: $0.currentVersion) }
            + conflicts.breaches.map { Met.values($0.names, objects: $0.members.count, stored: $0.stored?.reference) }
        repetitions = met == latest ? repetitions + 1 : 1
        (count, latest) = (count + 1, met)
        ends.append(conflicts.endTurn)
    }

    /// The save is over: who has waited for it goes on.
    func end() { for end in ends { end() } }
}
