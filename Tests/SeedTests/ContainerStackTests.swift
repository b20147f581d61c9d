import CoreData
import Foundation
import Testing

/// The same stack as a container makes it.
private final class ContainerStack {
    var errorHandler: (Error) -> Void = { _ in }
    private let container: NSPersistentContainer

    init(_ container: NSPersistentContainer) { self.container = container }

    lazy var persistentContainer: NSPersistentContainer = {
        container.loadPersistentStores(completionHandler: { [weak self] (storeDescription, error) in
            if let error = error {
                NSLog("CoreData error \(error), \(String(describing: error._userInfo))")
                self?.errorHandler(error)
            }
        })
        return container
    }()

    lazy var viewContext: NSManagedObjectContext = {
        return self.persistentContainer.viewContext
    }()

    lazy var backgroundContext: NSManagedObjectContext = {
        return self.persistentContainer.newBackgroundContext()
    }()

    func performForegroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        self.viewContext.perform {
            block(self.viewContext)
        }
    }

    func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        self.persistentContainer.performBackgroundTask(block)
    }
}

/// A container whose stores are where several programs of a group find them.
private final class GroupContainer: NSPersistentContainer, @unchecked Sendable {
    static let groupIdentifier = "group.com.identifier.app-name"
    /// Where a test has its groups.
    static var groups: URL?

    override class func defaultDirectoryURL() -> URL {
        var url = super.defaultDirectoryURL()
        if let newURL = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: groupIdentifier) {
            url = groups?.appendingPathComponent(newURL.lastPathComponent) ?? newURL
        }
        return url
    }
}

@Suite("A stack around a container", .serialized)
@MainActor struct ContainerStackTests {
    private let documents: Documents
    init() throws { documents = try Documents() }

    private func container() -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "DataModel")
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: documents.url.appendingPathComponent("DataModel.sqlite"))
        ]
        return container
    }

    @Test("runs tasks in the background and in the foreground")
    func tasks() async throws {
        let stack = ContainerStack(container())
        stack.errorHandler = { Issue.record($0) }
        stack.viewContext.automaticallyMergesChangesFromParent = true
        await answer { done in
            stack.performBackgroundTask { context in
                context.insertUser("Ada")
                do { try context.save() } catch { Issue.record(error) }
                done(())
            }
        }
        let names: [String]? = await answer { done in
            stack.performForegroundTask { context in done(try? context.userNames()) }
        }
        #expect(names == ["Ada"])
        let background = stack.backgroundContext
        #expect(try await background.perform { try background.userNames() } == ["Ada"])
    }

    @Test("tells its handler what went wrong with the store")
    func errors() throws {
        try FileManager.default.createDirectory(
            at: documents.url.appendingPathComponent("DataModel.sqlite"),
            withIntermediateDirectories: true
        )
        let stack = ContainerStack(container())
        var errors: [Error] = []
        stack.errorHandler = { errors.append($0) }
        _ = stack.viewContext
        #expect(errors.count == 1)
    }

    @Test("has its stores in the directory that a subclass names")
    func subclass() throws {
        let beside = NSPersistentContainer.defaultDirectoryURL().deletingLastPathComponent()
        #expect(GroupContainer.defaultDirectoryURL().path == beside.appendingPathComponent(GroupContainer.groupIdentifier).path)
        GroupContainer.groups = documents.url
        defer { GroupContainer.groups = nil }
        let stack = ContainerStack(GroupContainer(name: "DataModel"))
        stack.errorHandler = { Issue.record($0) }
        stack.viewContext.insertUser("Ada")
        try stack.viewContext.save()
        let file = documents.url.appendingPathComponent("\(GroupContainer.groupIdentifier)/DataModel.sqlite")
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test("has no directory for what is no identifier of a group", arguments: ["", "..", "a/b"])
    func badGroup(_ identifier: String) {
        #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: identifier) == nil)
    }
}
