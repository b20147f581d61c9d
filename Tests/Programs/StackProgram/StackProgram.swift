import CoreData
import CoreDataStack
import Foundation

/// A program with a stack, made to be killed at any moment. It says in lines what is done.
@main enum StackProgram {
    static func main() async throws {
        let argument = CommandLine.arguments.dropFirst(2).first
        let url = argument.map { URL(fileURLWithPath: $0) }
        switch CommandLine.arguments[1] {
        case "save": try await save(CoreDataStack.constructSQLiteStack(model: GroupModel.make(), at: url))
        case "reset": try await reset(CoreDataStack.constructSQLiteStack(model: GroupModel.make(), at: url))
        case "leave":
            leave(try await CoreDataStack.constructSQLiteStack(model: GroupModel.make(), at: url))
            say("gone")
            // Alive, with nothing to do.
            while true { await Task.yield() }
        case "flush":
            let stack = try await CoreDataStack.constructSQLiteStack(model: GroupModel.make(), at: url)
            leave(stack)
            try await stack.flush()
            exit(0)
        case "migrate":
            if let bytes = CommandLine.arguments.dropFirst(3).first.flatMap(UInt.init) { limitFiles(to: bytes) }
            do {
                _ = try await CoreDataStack.constructSQLiteStack(model: GroupModel.next(), at: url)
                say("migrated")
            } catch let error as CocoaError {
                say("error \(error.errorCode)")
            }
            exit(0)
        case "move": try move(url, CommandLine.arguments.dropFirst(3).first)
        case "share": try await share(url, CommandLine.arguments[3], Int(CommandLine.arguments[4]) ?? 0)
        case "follow-full": try await followOnFullDisk(url)
        case "track": try track(url)
        case "batch": try BatchWork(url).run()
        case "scope", "scope-throwing": try saveAndEnd(CommandLine.arguments[1], url)
        default: await place(argument)
        }
    }

    /// From now on a file that grows beyond so many bytes is an error, as on a disk that is full.
    private static func limitFiles(to bytes: UInt) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
        precondition(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, "a limit can be made lower")
    }

    /// Prints a line that is out of the process when this returns.
    static func say(_ line: Any) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Saves groups for ever, through all layers and in every form, and says the number of each whose save was reported as done.
    private static func save(_ stack: CoreDataStack) async throws {
        let main = stack.mainQueueContext
        let first = try await main.perform { try main.count(for: GroupModel.groups()) }
        let workers = (0..<2).map { _ in stack.newChildContext() }
        for number in first... {
            let worker = workers[number % 2]
            try await worker.perform { try GroupModel.insert(number, into: worker) }
            switch number % 3 {
            case 0: try await worker.saveToStore()
            case 1: try await saveWithCallback(worker)
            default: try await worker.saveContext()
            }
            say(number)
        }
    }

    private static func saveWithCallback(_ context: NSManagedObjectContext) async throws {
        let result = await withCheckedContinuation { continuation in context.saveContextToStore { continuation.resume(returning: $0) } }
        if case .failure(let error) = result { throw error }
    }

    /// Makes changes while another process does the same, each of them a save: inserts groups and updates each once. Says what main has in memory, and how
    /// often it was told of the other's groups, once it has heard of all.
    private static func share(_ url: URL?, _ name: String, _ changes: Int) async throws {
        var options = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
        options[CoreDataStackSharingNameOption] = name
        let stack = try await CoreDataStack.constructSQLiteStack(model: GroupModel.make(), at: url, persistentStoreOptions: options)
        let main = stack.mainQueueContext
        await main.perform { main.retainsRegisteredObjects = true }
        let merges = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidMergeChangesObjectIDs, object: main)
        var iterator = merges.makeAsyncIterator()
        say("ready")
        _ = readLine()
        let worker = stack.newChildContext()
        for _ in 0..<changes / 2 {
            let group = await worker.perform { NSEntityDescription.insertNewObject(forEntityName: "Group", into: worker).objectID }
            for number in 1...2 {
                await worker.perform { worker.object(with: group).setValue(number, forKey: "number") }
                try await worker.saveToStore()
            }
        }
        var told: [NSManagedObjectID] = []
        while let merge = await iterator.next() {
            told += merge.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
            if told.count < changes / 2 { continue }
            let numbers = await main.perform { main.registeredObjects.map { $0.value(forKey: "number") as? Int ?? 0 } }
            let sum = numbers.reduce(0, +)
            guard numbers.count == changes, sum == 2 * changes else { continue }
            say("\(numbers.count) groups, sum \(sum), told \(told.count) times of \(Set(told).count)")
            break
        }
        _ = readLine()
        try await stack.close()
        exit(0)
    }

    /// Has an unsaved change, and follows others while nothing can be written. Says what the first error is, and what is unsaved then.
    private static func followOnFullDisk(_ url: URL?) async throws {
        var options = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
        options[CoreDataStackSharingNameOption] = "follower"
        let stack = try await CoreDataStack.constructSQLiteStack(model: GroupModel.make(), at: url, persistentStoreOptions: options)
        let main = stack.mainQueueContext
        await main.perform { _ = NSEntityDescription.insertNewObject(forEntityName: "Group", into: main) }
        var errors = stack.saveErrors.makeAsyncIterator()
        limitFiles(to: 4096)
        say("ready")
        let error = await errors.next()
        let code = (error as? CocoaError).map { "\($0.errorCode)" } ?? error.map { "\($0)" } ?? "none"
        let count = await main.perform { main.insertedObjects.count }
        say("error \(code), \(count) unsaved")
        _ = readLine()
    }

    /// Saves for ever with a history: inserts, updates and deletes. Says each transaction that is done.
    private static func track(_ url: URL?) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GroupModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType,
            configurationName: nil,
            at: url,
            options: [NSPersistentHistoryTrackingKey: true]
        )
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for number in 0... {
            try context.performAndWait {
                try GroupModel.insert(number, into: context)
                let old = try context.fetch(GroupModel.groups())
                if old.count > 5 { context.delete(old[number % old.count]) }
                try context.save()
            }
            say(number)
        }
    }

    /// Fills and resets the store for ever, having removed what an earlier run has left.
    private static func reset(_ stack: CoreDataStack) async throws {
        let main = stack.mainQueueContext
        try await stack.resetStore()
        while true {
            try await main.perform { try GroupModel.insert(0, into: main) }
            try await main.saveToStore()
            say("full")
            try await stack.resetStore()
            say("empty")
        }
    }

    /// Saves in workers and main, and waits for nothing.
    private static func leave(_ stack: CoreDataStack) {
        let main = stack.mainQueueContext
        for number in 0..<20 {
            let context = number % 2 == 0 ? main : stack.newChildContext()
            context.performAndWait {
                do {
                    try GroupModel.insert(number, into: context)
                    try context.save()
                } catch {
                    say(error)
                }
            }
        }
    }

    /// Saves as a tool does, and ends.
    private static func saveAndEnd(_ way: String, _ url: URL?) throws {
        struct Failure: Error {}
        do {
            try CoreDataStack.withStack(model: GroupModel.make(), at: url) { stack in
                leave(stack)
                if way == "scope-throwing" { throw Failure() }
            }
        } catch is Failure {}
        exit(0)
    }

    /// Moves the store to another place.
    private static func move(_ url: URL?, _ place: String?) throws {
        guard let url, let place else { return }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GroupModel.make())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        say("open")
        do {
            try coordinator.migratePersistentStore(store, to: URL(fileURLWithPath: place), type: .sqlite)
            say("moved")
        } catch let error as CocoaError {
            say("error \(error.errorCode)")
        }
        exit(0)
    }

    /// Says where a store is when nobody has said where: that of a model of that name, or of one at hand.
    private static func place(_ modelName: String?) async {
        do {
            let stack =
                if let modelName { try await CoreDataStack.constructSQLiteStack(modelName: modelName) } else {
                    try await CoreDataStack.constructSQLiteStack(model: GroupModel.make())
                }
            say(stack.privateQueueContext.persistentStoreCoordinator?.persistentStores.first?.url?.path ?? "nowhere")
        } catch {
            say(error)
        }
    }
}
