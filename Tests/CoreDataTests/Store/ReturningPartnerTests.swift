import Testing

@testable import CoreData

@Suite("A row that a policy writes again, after others have deleted it")
struct ReturningPartnerTests {
    // * x and y are partners; x is deleted by others, and comes back here.
    @Test(
        "has the partner that it has here, and that has it",
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
        #expect(person.desk === desk && desk.owner === person)
        let ends = "SELECT (SELECT ZDESK FROM ZPERSON) = Z_PK, ZOWNER = (SELECT Z_PK FROM ZPERSON) FROM ZDESK"
        #expect(try rivals.library.sql(ends) == "1|1")
        #expect(try rivals.library.sql("SELECT ZNAME FROM ZPERSON") == "back")
    }
}
