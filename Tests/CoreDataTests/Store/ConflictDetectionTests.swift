import Foundation
import Testing

@testable import CoreData

@Suite("Objects that take part in the search for conflicts")
struct ConflictDetectionTests {
    @Test("detectConflicts(for:) makes an unchanged object take part", arguments: Rivals.Place.allCases)
    func detectConflicts(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        rivals.mine.detectConflicts(for: rivals.myBook)
        try rivals.mine.save()
        rivals.mine.detectConflicts(for: rivals.myBook)
        rivals.theirBook.title = "theirs"
        try rivals.theirs.save()
        let tag = Tag(context: rivals.mine)
        cocoaError(133020) { try rivals.mine.save() }
        #expect(tag.isInserted)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try rivals.mine.save()
        #expect(try rivals.row() == "theirs|1|1.0|2")
        #expect(rivals.myBook.title == "theirs")
    }

    @Test("what was to be checked for conflicts is not, once it is a fault again", arguments: Rivals.Place.allCases)
    func refreshedLock(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        rivals.mine.detectConflicts(for: rivals.myBook)
        rivals.theirBook.title = "theirs"
        try rivals.theirs.save()
        rivals.mine.refresh(rivals.myBook, mergeChanges: false)
        _ = Tag(context: rivals.mine)
        try rivals.mine.save()
        #expect(!rivals.mine.hasChanges)
    }

    /// Brings back what others have deleted, and then has the save fail.
    private final class RefusingPolicy: NSMergePolicy, @unchecked Sendable {
        override func resolve(mergeConflicts list: [Any]) throws {
            try super.resolve(mergeConflicts: list)
            throw CocoaError(.userCancelled)
        }
    }

    @Test(
        "an object that is in no context any more is not checked for conflicts, and no save waits for it",
        .timeLimit(.minutes(1)),
        arguments: Rivals.Place.allCases
    )
    func lockOfVanished(place: Rivals.Place) throws {
        let rivals = try Rivals(place)
        rivals.mine.detectConflicts(for: rivals.myBook)
        rivals.theirs.delete(rivals.theirBook)
        try rivals.theirs.save()
        rivals.myBook.title = "mine"
        rivals.mine.mergePolicy = RefusingPolicy(merge: .overwriteMergePolicyType)
        cocoaError(CocoaError.userCancelled.rawValue) { try rivals.mine.save() }
        #expect(rivals.myBook.isInserted)
        rivals.mine.delete(rivals.myBook)
        rivals.mine.processPendingChanges()
        #expect(rivals.myBook.managedObjectContext == nil)
        _ = Tag(context: rivals.mine)
        try rivals.mine.save()
        #expect(try !rivals.mine.hasChanges && rivals.row().isEmpty)
    }
}
