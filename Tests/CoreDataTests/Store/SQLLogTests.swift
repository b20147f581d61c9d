import Foundation
import Testing

@testable import CoreData

@Suite("The log of SQL statements")
struct SQLLogTests {
    /// What a process with that level logs while it saves and fetches.
    private func log(_ level: String) async -> String {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [level = level as String] in
            setenv("COREDATA_SQLDEBUG", level, 1)
            let library = try Library()
            Tag(context: library.context).label = "secret"
            try library.context.save()
            let request = NSFetchRequest<Tag>(entityName: "Tag")
            request.predicate = NSPredicate(format: "label == 'secret'")
            _ = try library.newContext().fetch(request)
        }
        return String(decoding: (result?.standardOutputContent ?? []) + (result?.standardErrorContent ?? []), as: UTF8.self)
    }

    @Test("is silent at level 0 and for what is no level", arguments: ["0", "", "loud"])
    func silence(level: String) async {
        let said = await log(level)
        #expect(!said.contains("ZTAG"))
    }

    @Test("has the statements at level 1, and their parameters at level 3 only")
    func levels() async {
        let (first, third) = (await log("1"), await log("3"))
        for said in [first, third] {
            #expect(said.contains("CoreData.sql") && said.contains("INSERT INTO ZTAG") && said.contains("t0.Z_PK"))
        }
        #expect(!first.contains("secret"))
        #expect(third.contains("secret"))
    }

    @Test("is counted for each store", arguments: StoreKind.allCases)
    func counting(kind: StoreKind) throws {
        let library = try Library(kind)
        let before = library.store.counter.count
        let recorded = try library.statements { _ = try library.context.labels() }
        #expect(recorded.count == 1 && recorded[0].hasPrefix("SELECT"))
        #expect(library.store.counter.count > before)
    }
}
