import CoreData
import Foundation
import TestSupport
import Testing

@Suite("What fails leaves a line in the log, where the program drops the error:")
struct FailureLogTests {
    private func log(_ result: ExitTest.Result?, _ text: String) -> [Substring] {
        complaint(result).split(separator: "\n").filter { $0.contains(text) && $0.contains("error CoreData") }
    }

    @Test("a store that is not added")
    func store() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
            let url = URL(fileURLWithPath: "/nowhere/at/all.sqlite")
            _ = try? coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        }
        #expect(log(result, "The store at /nowhere/at/all.sqlite was not added: ").first?.hasSuffix("(134080)") == true)
    }

    @Test("a container's store, once")
    func container() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.make())
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/nowhere/at/all.sqlite"))]
            container.loadPersistentStores { _, _ in }
        }
        #expect(log(result, "/nowhere/at/all.sqlite").count == 1)
    }

    @Test("a fetch and a count that are refused")
    func fetches() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            for kind in StoreKind.allCases {
                let library = try Library(kind)
                let request = NSFetchRequest<Tag>(entityName: "Tag")
                request.predicate = NSPredicate(format: "nonsense == 1")
                _ = try? library.context.fetch(request)
                _ = try? library.context.count(for: request)
            }
        }
        let lines = log(result, "A fetch of Tag failed: ")
        #expect(lines.count == 4 && lines.allSatisfy { $0.contains("nonsense") && $0.hasSuffix("(134060)") })
    }

    @Test("a model that cannot be read")
    func model() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            _ = NSManagedObjectModel(contentsOf: URL(fileURLWithPath: "/nowhere/Library.momd"))
        }
        #expect(log(result, "The model at /nowhere/Library.momd was not read: ").count == 1)
    }

    @Test("a statement that takes longer than an option says; without the option, none")
    func slowStatements() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            for kind in StoreKind.allCases {
                for options in [[CoreDataSlowStatementThresholdOption: 0], [CoreDataSlowStatementThresholdOption: 60.0], nil] {
                    let library = try Library(kind, options: options)
                    let request = NSFetchRequest<Tag>(entityName: "Tag")
                    request.predicate = NSPredicate(format: "label == 'x'")
                    _ = try library.context.fetch(request)
                }
            }
        }
        #expect(complaint(result).split(separator: "\n").count { $0.contains("slow statement: ") && $0.contains("ZLABEL = ?") } == 2)
    }
}
