import Testing

@testable import CoreData

@Suite("What a context has changed beyond what children have saved into it")
struct ChangeSetRemainderTests {
    // * One child adds a pair that the store has already, as others have saved it meanwhile; another takes it out. The context has that it is out.
    @Test("is nothing of a pair of which a child has said the same last", arguments: [false, true])
    func pair(isOut: Bool) throws {
        let tag = [RowReference(key: 2, entity: 1, store: 1)]
        let model = LibraryModel.make()
        let tags = try #require(model.entitiesByName["Book"]?.relationshipsByName["tags"])
        func links(added: [RowReference], removed: [RowReference]) -> ChangeSet {
            var changes = ChangeSet()
            let owner = RowReference(key: 1, entity: 0, store: 1)
            changes.links = [ChangeSet.LinkChange(relationship: tags, owner: owner, added: added, removed: removed)]
            return changes
        }
        let (isIn, isOutside) = (links(added: tag, removed: []), links(added: [], removed: tag))
        let (parts, whole) = isOut ? ([isIn, isOutside], isOutside) : ([isOutside, isIn], isIn)
        func rest(_ whole: ChangeSet) -> ChangeSet {
            ChangeSetRemainder(of: whole, beyond: parts, newest: { $0 }, current: { _ in nil }).changes
        }
        #expect(rest(whole).links.isEmpty)
        #expect(rest(isOut ? isIn : isOutside).links.count == 1)
    }
}
