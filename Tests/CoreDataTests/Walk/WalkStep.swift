/// One step of a walk: what it does, where, and numbers that its choices follow from.
///
/// Choices do not depend on what else there is to choose from, so that a walk stays much the same when other steps are left out.
struct WalkStep: CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case insert, number, text, sameValue, note, toOne, addMember, removeMember, reorder, delete
        case save, process, fetch, release, rollback, reset
        case refreshMerging, refreshDropping, refreshAll, refreshDeleted, refreshInserted
        case merge, mergeTwice, mergeURIs, mergeAll
        case obtainIDs, lookUp, find
        case strangerLookUp, strangerFind, strangerDelete, strangerMerge
        case addStoreAgain
        /// Looks at all that can be read, which is a step of its own: reading changes what a context knows.
        case checkEverything
    }

    /// Steps that belong together, to be walked or not.
    enum Group: String, CaseIterable {
        case edits, saves, policies, refreshes, odd, merges, children, ids, strangers, stores, events

        var kinds: [(Kind, weight: Int)] {
            switch self {
            case .edits:
                [
                    (.insert, 10), (.number, 8), (.text, 4), (.sameValue, 2), (.note, 1), (.toOne, 12), (.addMember, 8), (.removeMember, 4),
                    (.reorder, 4), (.delete, 5), (.process, 2), (.fetch, 3), (.release, 3),
                ]
            case .saves: [(.save, 12), (.rollback, 3), (.reset, 2)]
            case .refreshes: [(.refreshMerging, 5), (.refreshAll, 2)]
            case .odd: [(.refreshDropping, 4), (.refreshDeleted, 1), (.refreshInserted, 1)]
            case .merges: [(.merge, 8), (.mergeTwice, 2), (.mergeURIs, 3), (.mergeAll, 3)]
            case .ids: [(.obtainIDs, 3), (.lookUp, 3), (.find, 2)]
            case .strangers: [(.strangerLookUp, 3), (.strangerFind, 2), (.strangerDelete, 1), (.strangerMerge, 3)]
            case .stores: [(.addStoreAgain, 1)]
            case .policies, .children, .events: []
            }
        }
    }

    let kind: Kind
    let context: Int
    /// What an object that the step makes is called.
    let serial: Int
    let a: Int
    let b: Int
    let c: Int

    init(_ kind: Kind, _ context: Int, _ serial: Int, _ a: Int, _ b: Int, _ c: Int) {
        (self.kind, self.context, self.serial, self.a, self.b, self.c) = (kind, context, serial, a, b, c)
    }

    var description: String { "WalkStep(.\(kind), \(context), \(serial), \(a), \(b), \(c))" }

    /// The steps of a seed.
    static func steps(_ count: Int, seed: UInt64, _ groups: Set<Group>) -> [WalkStep] {
        var random = SeededGenerator(seed &+ 71)
        for _ in 0..<8 { _ = random.next() }
        let kinds = Group.allCases.filter(groups.contains).flatMap(\.kinds).flatMap { Array(repeating: $0.0, count: $0.weight) }
        return (1...count).flatMap { serial in
            func roll(_ n: Int) -> Int { Int.random(in: 0..<n, using: &random) }
            let step = WalkStep(kinds[roll(kinds.count)], roll(60), serial, roll(1000), roll(1000), roll(1000))
            return serial % 50 == 0 ? [step, WalkStep(.checkEverything, step.context, serial, 0, 0, 0)] : [step]
        }
    }
}

extension Sequence<Int> {
    /// One of the numbers, the same whatever others come or go, as long as it is there.
    func chosen(by number: Int) -> Int? {
        self.min { Self.mix($0, number) < Self.mix($1, number) }
    }

    private static func mix(_ left: Int, _ right: Int) -> (UInt64, Int) {
        var word = UInt64(bitPattern: Int64(left)) &* 0x9e37_79b9_7f4a_7c15 ^ UInt64(bitPattern: Int64(right)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 30)) &* 0x94d0_49bb_1331_11eb
        return (word ^ (word >> 31), left)
    }
}
