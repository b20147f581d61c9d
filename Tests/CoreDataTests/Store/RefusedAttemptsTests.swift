import Testing

@testable import CoreData

@Suite("The attempts of a save that meets conflicts")
struct RefusedAttemptsTests {
    private func conflict(_ version: Int32) -> SaveConflicts {
        let reference = RowReference(key: 1, entity: 0, store: 1)
        let conflict = RowConflict(reference: reference, current: nil, currentVersion: version, baseVersion: 0, isStoreAhead: true)
        return SaveConflicts(conflicts: [conflict])
    }

    private func count(_ version: (Int32) -> Int32) -> Int {
        var attempts = RefusedAttempts()
        var count = 0
        while !attempts.areEnough {
            count += 1
            attempts.note(conflict(version(Int32(count))))
        }
        return count
    }

    @Test("are three where the policy leaves it as it is, more where others go on writing, and never without an end")
    func limits() {
        #expect(count { _ in 1 } == 3)
        #expect(count { $0 } == 100)
        #expect(count { min($0, 5) } == 7)
    }
}
