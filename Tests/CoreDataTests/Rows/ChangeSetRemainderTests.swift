import Testing

@testable import CoreData

@Suite("What a context has changed beyond what children have saved into it")
struct ChangeSetRemainderTests {
    // * One child adds a pair that the store has already, as others have saved it meanwhile; another takes it out. The context has that it is out.
    @Test("is nothing of a pair of which a child has said the same last", arguments: [false, true])
    func pair(isOut: Bool) throws {
        let (isIn, isOutside) = (try links(added: [tag], removed: []), try links(added: [], removed: [tag]))
        let (parts, whole) = isOut ? ([isIn, isOutside], isOutside) : ([isOutside, isIn], isIn)
        #expect(rest(of: whole, beyond: parts).links.isEmpty)
        #expect(rest(of: isOut ? isIn : isOutside, beyond: parts).links.count == 1)
    }

    // * A child takes a member out that it has not read, and puts it in again: it says both.
    @Test("is nothing of a pair that a child has taken out and put in again, if it is the same in the context")
    func returnedPair() throws {
        let both = try links(added: [tag], removed: [tag])
        #expect(rest(of: both, beyond: [both]).links.isEmpty)
        #expect(rest(of: both, beyond: [try links(added: [tag], removed: [])]).links.isEmpty)
        let put = rest(of: both, beyond: [try links(added: [], removed: [tag])]).links
        #expect(put.map(\.added) == [[tag]] && put.map(\.removed) == [[]])
        #expect(rest(of: try links(added: [], removed: [tag]), beyond: [both]).links.map(\.removed) == [[tag]])
        #expect(rest(of: both, beyond: []).links.map(\.removed) == [[tag]])
    }

    private let tag = RowReference(key: 2, entity: 1, store: 1)
    private let model = LibraryModel.make()

    private func links(added: [RowReference], removed: [RowReference]) throws -> ChangeSet {
        let tags = try #require(model.entitiesByName["Book"]?.relationshipsByName["tags"])
        let owner = RowReference(key: 1, entity: 0, store: 1)
        var changes = ChangeSet()
        changes.links = [ChangeSet.LinkChange(relationship: tags, owner: owner, added: added, removed: removed)]
        return changes
    }

    private func rest(of whole: ChangeSet, beyond parts: [ChangeSet]) -> ChangeSet {
        ChangeSetRemainder(of: whole, beyond: parts, newest: { $0 }, current: { _ in nil }).changes
    }
}
