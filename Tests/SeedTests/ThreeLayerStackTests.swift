import CoreData
import CoreDataStack
import Foundation
import Testing

/// An app around the ready-made stack, in the form with callbacks.
private final class App: @unchecked Sendable {
    // Used by one test, on one queue after the other.
    var stack: CoreDataStack?
    private let storeURL: URL

    init(_ storeURL: URL) { self.storeURL = storeURL }

    func launch() async -> Bool {
        await answer { done in
            CoreDataStack.constructSQLiteStack(modelName: "DataModel", in: .module, at: self.storeURL) { result in
                switch result {
                case .success(let stack):
                    self.stack = stack
                    done(true)
                case .failure(let error):
                    Issue.record(error)
                    done(false)
                }
            }
        }
    }
}

/// What the documentation of the stack's first version shows. Through it, nothing that is deprecated is called by name.
private protocol FirstProgram {
    func sqliteStack(at url: URL) async -> CoreDataStack?
    func inMemoryStack() throws -> CoreDataStack
    func insertUser(_ name: String, in workerContext: NSManagedObjectContext, _ done: @escaping () -> Void)
}

private struct FormerNames: FirstProgram {
    @available(*, deprecated) func sqliteStack(at url: URL) async -> CoreDataStack? {
        await answer { done in
            CoreDataStack.constructSQLiteStack(withModelName: "DataModel", in: .module, at: url) { result in
                switch result {
                case .success(let stack): done(stack)
                case .failure(let error):
                    Issue.record(error)
                    done(nil)
                }
            }
        }
    }

    @available(*, deprecated) func inMemoryStack() throws -> CoreDataStack {
        try CoreDataStack.constructInMemoryStack(withModelName: "DataModel", in: .module)
    }

    @available(*, deprecated) func insertUser(_ name: String, in workerContext: NSManagedObjectContext, _ done: @escaping () -> Void) {
        workerContext.performBlock {
            workerContext.insertUser(name)
            workerContext.saveContext()
            done()
        }
    }
}

@Suite("The three-layer stack")
struct ThreeLayerStackTests {
    private let documents: Documents
    init() throws { documents = try Documents() }

    private func stack() async throws -> CoreDataStack {
        let app = App(documents.url.appendingPathComponent("TestModel.sqlite"))
        #expect(await app.launch())
        return try #require(app.stack)
    }

    @Test("has a root that writes, a main context that is its child, and workers that are children of main")
    func layers() async throws {
        let stack = try await stack()
        let worker = stack.newChildContext()
        #expect(stack.privateQueueContext.concurrencyType == .privateQueueConcurrencyType)
        #expect(stack.mainQueueContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(stack.mainQueueContext.parent === stack.privateQueueContext && worker.parent === stack.mainQueueContext)
    }

    @Test("takes what a worker saves into main and the store")
    func worker() async throws {
        let stack = try await stack()
        let workerContext = stack.newChildContext()
        let failure: Error? = await answer { done in
            workerContext.perform {
                workerContext.insertUser("Ada")
                workerContext.saveContext { result in
                    if case .failure(let error) = result { done(error) } else { done(nil) }
                }
            }
        }
        #expect(failure == nil)
        let main = stack.mainQueueContext
        #expect(try await main.perform { try main.userNames() } == ["Ada"])
        #expect(try await names(in: stack) == ["Ada"])
    }

    @Test("answers to the names that its first version had")
    func formerNames() async throws {
        let program: FirstProgram = FormerNames()
        let file = await program.sqliteStack(at: documents.url.appendingPathComponent("TestModel.sqlite"))
        for stack in [try #require(file), try program.inMemoryStack()] {
            let worker = stack.newChildContext()
            await answer { done in program.insertUser("Ada", in: worker) { done(()) } }
            try await worker.saveToStore()
            #expect(try await names(in: stack) == ["Ada"])
        }
    }

    @Test("bubbles a plain save of main into the store")
    func bubbling() async throws {
        let stack = try await stack()
        let (main, root) = (stack.mainQueueContext, stack.privateQueueContext)
        try await main.perform {
            main.insertUser("Grace")
            try main.save()
        }
        await root.perform(schedule: .enqueued) {}
        #expect(try await names(in: stack) == ["Grace"])
    }

    @Test("imports many objects through a batch context")
    func batch() async throws {
        let stack = try await stack()
        let context: NSManagedObjectContext? = await answer { done in
            stack.newBatchOperationContext { result in
                switch result {
                case .success(let batchContext): done(batchContext)
                case .failure(let error):
                    Issue.record(error)
                    done(nil)
                }
            }
        }
        let batch = try #require(context)
        try await batch.perform {
            for index in 0..<1500 { batch.insertUser("\(index)") }
            try batch.save()
        }
        #expect(try await names(in: stack).count == 1500)
    }

    // * A user logs out: the store is reset. Another one logs in.
    @Test("is empty after a reset, in a file and in memory", arguments: [true, false])
    func reset(isFile: Bool) async throws {
        let stack = isFile ? try await stack() : try CoreDataStack.constructInMemoryStack(modelName: "DataModel", in: .module)
        for name in ["Ada", "Grace"] {
            let worker = stack.newChildContext()
            try await worker.perform {
                worker.insertUser(name)
                try worker.save()
            }
            let main = stack.mainQueueContext
            #expect(try await main.perform { try main.userNames() } == [name])
            let failure: Error? = await answer { done in
                stack.resetStore { result in
                    switch result {
                    case .success: done(nil)
                    case .failure(let error): done(error)
                    }
                }
            }
            #expect(failure == nil)
            #expect(try await main.perform { try main.userNames() } == [])
            #expect(try await names(in: stack) == [])
        }
    }

    /// What the store has: a context beside the stack's sees nothing else.
    private func names(in stack: CoreDataStack) async throws -> [String] {
        let reader = try await stack.newBatchOperationContext()
        return try await reader.perform { try reader.userNames() }
    }
}
