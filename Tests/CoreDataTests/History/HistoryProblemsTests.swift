import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Verifying a store with a history")
struct HistoryProblemsTests {
    private func problems(_ damage: String) throws -> [String] {
        let library = try trackedLibrary(.file)
        for label in ["a", "b", "c"] {
            library.context.transactionAuthor = label
            Tag(context: library.context).label = label
            try library.context.save()
        }
        let tags = try library.context.fetch(NSFetchRequest<Tag>(entityName: "Tag"))
        tags[0].label = "x"
        library.context.delete(tags[1])
        try library.context.save()
        #expect(try library.sql(damage) == "")
        return try StoreInspector(url: library.url).problems(with: LibraryModel.make())
    }

    @Test("finds nothing where all is well")
    func sound() throws { #expect(try problems("") == []) }

    static let damages = [
        (
            "INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT) SELECT ZENTITYPK, ZENTITY, 1 FROM ACHANGE WHERE ZCHANGETYPE = 2",
            "history says were deleted: 1"
        ),
        ("DELETE FROM ZTAG WHERE Z_PK IN (SELECT ZENTITYPK FROM ACHANGE WHERE ZCHANGETYPE = 1)", "does not say were deleted: 1"),
        ("UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT = 16002", "ATRANSACTION has the key 4"),
        ("DELETE FROM ATRANSACTION WHERE Z_PK = 2", "changes of no transaction: 1"),
        ("UPDATE ACHANGE SET ZCHANGETYPE = 9 WHERE Z_PK = 1", "unknown kind: 1"),
        ("DELETE FROM ATRANSACTIONSTRING WHERE ZNAME = 'b'", "ZAUTHORTS that is not there"),
    ]

    @Test("finds what does not agree", arguments: damages)
    func damaged(damage: String, problem: String) throws {
        let problems = try problems(damage)
        #expect(problems.count == 1)
        #expect(problems.first?.contains(problem) == true, "\(problems)")
    }
}
