import Testing

@testable import CoreData

@Suite("A row that a policy writes again, after others have deleted it")
struct ReturningPartnerTests {
    // * x and y are partners; x is deleted by others, and comes back here.
    @Test(
        "has the partner that has it, and no other",
        arguments: Rivals.Place.allCases,
        [.overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType] as [NSMergePolicyType]
    )
    func partners(place: Rivals.Place, policy: NSMergePolicyType) throws {
        let rivals = try Rivals(place)
        let (person, desk) = (Person(context: rivals.mine), Desk(context: rivals.mine))
        (person.name, desk.room, desk.owner) = ("x", "y", person)
        try rivals.mine.save()
        let theirs = try #require(try rivals.theirs.all(Person.self, "Person").first)
        try #require(theirs.desk).owner = nil
        rivals.theirs.delete(theirs)
        try rivals.theirs.save()
        rivals.mine.mergePolicy = NSMergePolicy(merge: policy)
        person.name = "back"
        try rivals.mine.save()
        #expect((person.desk === desk) == (desk.owner === person))
        #expect(try rivals.library.sql("SELECT (SELECT ZDESK FROM ZPERSON) IS NULL, (SELECT ZOWNER FROM ZDESK) IS NULL") == "1|1")
        #expect(try rivals.library.sql("SELECT ZNAME FROM ZPERSON") == "back")
    }
}
