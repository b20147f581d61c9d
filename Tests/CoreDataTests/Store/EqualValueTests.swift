import Foundation
import Testing

@testable import CoreData

@Suite("Setting what was so already")
struct EqualValueTests {
    // * I set the title to what it was, and change the pages. They have changed the title.
    // => Setting what was so is no edit: nothing of theirs is lost, by a save, a merge or a refresh.
    @Test(
        "a property that was set to the value that it had is theirs, also where mine would win",
        arguments: Rivals.Place.allCases,
        [.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType] as [NSMergePolicyType]
    )
    func equalValue(place: Rivals.Place, policy: NSMergePolicyType) throws {
        for isRefreshed in [false, true] {
            let rivals = try Rivals(place)
            rivals.theirBook.title = "theirs"
            try rivals.theirs.save()
            (rivals.myBook.title, rivals.myBook.pages, rivals.myBook.price) = (rivals.myBook.title, 2, 3)
            rivals.myBook.price = 1
            if isRefreshed { rivals.mine.refresh(rivals.myBook, mergeChanges: true) }
            rivals.mine.mergePolicy = NSMergePolicy(merge: policy)
            try rivals.mine.save()
            #expect(rivals.myBook.title == "theirs")
            #expect(try rivals.row() == "theirs|2|1.0|3")
        }
    }
}
