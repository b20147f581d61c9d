import Foundation
import Testing

@testable import CoreData

@Suite("Walks that once failed")
struct FailedWalkTests {
    @Test("a one-to-one end that a child emptied has its partner again where that drops its changes")
    func emptiedEnd() {
        let steps = [
            WalkStep(.insert, 45, 44, 693, 383, 425), WalkStep(.insert, 51, 56, 208, 584, 874), WalkStep(.toOne, 57, 63, 444, 374, 676),
            WalkStep(.toOne, 59, 71, 663, 942, 0), WalkStep(.refreshDropping, 47, 86, 371, 137, 789),
        ]
        #expect(WalkRun(kind: .file, groups: Set(WalkStep.Group.allCases)).failure(steps)?.text == nil)
    }

    @Test("what a parent has deleted comes back in a child, where another saved it meanwhile")
    func deletedAbove() {
        let steps = [
            WalkStep(.insert, 21, 4, 945, 291, 244), WalkStep(.insert, 51, 10, 231, 266, 596), WalkStep(.toOne, 39, 17, 96, 61, 39),
            WalkStep(.insert, 51, 20, 794, 808, 461), WalkStep(.save, 39, 31, 951, 923, 675), WalkStep(.toOne, 45, 46, 662, 498, 957),
            WalkStep(.toOne, 14, 48, 509, 290, 669), WalkStep(.delete, 12, 68, 713, 978, 52), WalkStep(.toOne, 50, 77, 651, 892, 644),
            WalkStep(.save, 0, 86, 122, 88, 211), WalkStep(.save, 27, 87, 143, 34, 243), WalkStep(.merge, 26, 98, 201, 258, 525),
        ]
        #expect(WalkRun(kind: .file, groups: Set(WalkStep.Group.allCases)).failure(steps)?.text == nil)
    }

    @Test("a link that is made where it was taken out from the other end is saved")
    func restatedLink() {
        let steps = [
            WalkStep(.strangerLookUp, 9, 1, 759, 279, 884), WalkStep(.insert, 23, 2, 723, 648, 9),
            WalkStep(.refreshMerging, 27, 3, 882, 786, 982), WalkStep(.toOne, 24, 7, 741, 21, 562),
            WalkStep(.rollback, 46, 8, 915, 892, 899),
            WalkStep(.delete, 0, 9, 645, 736, 761), WalkStep(.insert, 9, 10, 858, 952, 672), WalkStep(.toOne, 8, 11, 513, 11, 30),
            WalkStep(.insert, 17, 12, 213, 115, 294), WalkStep(.lookUp, 31, 13, 372, 711, 65), WalkStep(.save, 17, 27, 101, 206, 737),
            WalkStep(.save, 15, 28, 686, 890, 525), WalkStep(.refreshDropping, 42, 29, 299, 653, 380),
            WalkStep(.removeMember, 46, 30, 517, 221, 953), WalkStep(.insert, 15, 31, 989, 802, 705),
            WalkStep(.number, 52, 32, 820, 211, 897), WalkStep(.mergeURIs, 15, 33, 10, 474, 805), WalkStep(.number, 44, 34, 72, 784, 570),
            WalkStep(.addMember, 22, 35, 344, 360, 520), WalkStep(.sameValue, 10, 36, 320, 985, 140),
            WalkStep(.release, 35, 37, 995, 83, 675), WalkStep(.rollback, 17, 38, 959, 374, 353), WalkStep(.delete, 14, 39, 315, 750, 846),
            WalkStep(.save, 34, 52, 430, 874, 344),
        ]
        #expect(WalkRun(kind: .file, groups: Set(WalkStep.Group.allCases)).failure(steps)?.text == nil)
    }

    @Test("a delete reaches who refers to an object whose own changes were dropped")
    func droppedOwner() {
        let steps = [
            WalkStep(.insert, 15, 33, 660, 793, 345), WalkStep(.save, 39, 36, 131, 76, 457), WalkStep(.insert, 14, 51, 430, 188, 842),
            WalkStep(.save, 46, 65, 515, 785, 747), WalkStep(.toOne, 18, 69, 668, 624, 411),
            WalkStep(.refreshDropping, 34, 76, 221, 83, 8), WalkStep(.delete, 50, 78, 125, 341, 874),
            WalkStep(.save, 30, 93, 85, 343, 562),
        ]
        #expect(WalkRun(kind: .file, groups: [.edits, .odd, .saves]).failure(steps)?.text == nil)
    }

    @Test("what a parent wrote anew and saved does not go with the row that its child knew")
    func writtenAnew() {
        let steps = [
            WalkStep(.insert, 12, 2, 410, 465, 929), WalkStep(.save, 36, 18, 89, 198, 813), WalkStep(.refreshMerging, 8, 38, 145, 744, 937),
            WalkStep(.delete, 39, 41, 454, 17, 962), WalkStep(.number, 48, 42, 639, 452, 578), WalkStep(.save, 15, 54, 714, 73, 204),
            WalkStep(.mergeAll, 38, 56, 84, 962, 907), WalkStep(.save, 36, 64, 771, 155, 608), WalkStep(.save, 38, 90, 424, 86, 111),
            WalkStep(.save, 18, 92, 832, 866, 572),
        ]
        #expect(WalkRun(kind: .file, groups: Set(WalkStep.Group.allCases)).failure(steps)?.text == nil)
    }

    @Test("a boss of oneself, set and taken back, is no change after a refresh that drops changes")
    func oneself() {
        let steps = [
            WalkStep(.insert, 51, 4, 892, 353, 654), WalkStep(.save, 27, 20, 784, 819, 938), WalkStep(.toOne, 13, 23, 43, 680, 213),
            WalkStep(.delete, 16, 37, 319, 260, 23), WalkStep(.toOne, 55, 46, 450, 936, 105),
            WalkStep(.refreshDropping, 13, 58, 857, 199, 213), WalkStep(.save, 22, 68, 78, 939, 828),
            WalkStep(.save, 31, 75, 541, 520, 204),
        ]
        #expect(WalkRun(kind: .file, groups: Set(WalkStep.Group.allCases)).failure(steps)?.text == nil)
    }

    @Test("what a parent wrote anew and saved does not go with a row that its child never read")
    func writtenAnewUnread() {
        let steps = [
            WalkStep(.insert, 6, 12, 288, 508, 940), WalkStep(.save, 18, 21, 592, 207, 458), WalkStep(.insert, 55, 26, 669, 232, 190),
            WalkStep(.delete, 26, 29, 556, 909, 766), WalkStep(.save, 49, 45, 403, 143, 146), WalkStep(.save, 56, 46, 641, 205, 349),
            WalkStep(.toOne, 41, 69, 884, 466, 609), WalkStep(.toOne, 15, 70, 780, 632, 727), WalkStep(.toOne, 51, 71, 126, 506, 473),
            WalkStep(.save, 48, 76, 347, 276, 615), WalkStep(.merge, 53, 78, 551, 680, 987), WalkStep(.save, 9, 80, 963, 864, 898),
            WalkStep(.save, 53, 88, 5, 453, 652), WalkStep(.merge, 21, 96, 108, 590, 171),
        ]
        #expect(WalkRun(kind: .file, groups: Set(WalkStep.Group.allCases)).failure(steps)?.text == nil)
    }
}
