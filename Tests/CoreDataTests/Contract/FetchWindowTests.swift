import Foundation
import Testing

@testable import CoreData

@Suite("A fetch from an incremental store, beside unsaved changes")
struct FetchWindowTests {
    @Test("takes any limit and offset", arguments: [(Int.max, 0), (Int.max - 1, 1), (Int.max, 1), (1, Int.max), (2, 1)])
    func largest(_ limit: Int, _ offset: Int) throws {
        let found = try ContractKind.allCases.filter { [.memory, .dictionary].contains($0) }.map { try labels($0, limit, offset) }
        #expect(found[0] == found[1])
        #expect(found[1].count == min(max(0, 4 - min(offset, 4)), limit))
    }

    private func labels(_ kind: ContractKind, _ limit: Int, _ offset: Int) throws -> [String?] {
        let context = try ContractHome(kind).open()
        for label in ["a", "b", "c"] { Tag(context: context).label = label }
        try context.save()
        try #require(try context.all(Tag.self, where: "label == 'b'").first).label = "d"
        Tag(context: context).label = "e"
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
        return try context.fetch(request).map(\.label)
    }
}
