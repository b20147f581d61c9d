import CoreData
import Foundation
import TestSupport
import Testing

@Suite("coredata store explain")
struct ExplainCommandTests {
    private let library: LibraryStore

    init() throws { library = try LibraryStore() }

    private func explain(_ arguments: String...) async throws -> Run { try await Run(["store", "explain", library.store] + arguments) }

    @Test("prints statement, arguments and plan, and what is left to memory")
    func prints() async throws {
        let run = try await explain("--entity", "Book", "--predicate", "name BEGINSWITH 'a'", "--sort", "name desc", "--limit", "3")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("sql        SELECT") && run.output.contains(" DESC LIMIT ?") && run.output.contains("plan       "))
        #expect(run.output.hasSuffix("in memory  nothing\n"))
    }

    // * A store has the entities of one configuration; its model has another with more.
    // => A fetch of what is in the store is explained.
    @Test("explains a fetch in a store that has one configuration of its model")
    func configuration() async throws {
        let model = try NSManagedObjectModel(reading: library.folder.file("Library.xcdatamodeld"))
        model.setEntities(model.entities, forConfigurationName: "Main")
        let entry = NSEntityDescription()
        entry.name = "LogEntry"
        model.entities += [entry]
        model.setEntities([entry], forConfigurationName: "Local")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = library.folder.file("main.sqlite")
        try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, configuration: "Main", at: url))
        let run = try await Run("store", "explain", url.path, "--entity", "Book")
        #expect(run.status == 0 && run.output.contains("sql        SELECT"), "\(run.errors)")
    }

    @Test("says what is wrong with its arguments")
    func refusals() async throws {
        #expect(try await explain("--entity", "Boot").errors == "Error: The model has no entity Boot. Is Book meant?\n")
        #expect(try await explain("--entity", "Book", "--predicate", "name ==").status != 0)
        let misspelt = try await explain("--entity", "Book", "--predicate", "nmae == 1").errors
        #expect(misspelt == "Error: Entity Book has no property “nmae”. Is “name” meant?\n")
        let sorted = try await explain("--entity", "Book", "--sort", "a b c")
        #expect(sorted.status == 64 && sorted.errors.contains("Usage: coredata store explain"), "\(sorted.errors)")
    }
}
