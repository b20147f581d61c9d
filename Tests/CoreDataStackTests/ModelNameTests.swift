import CoreData
import CoreDataStack
import Foundation
import TestSupport
import Testing

@Suite("A stack for a model's name")
struct ModelNameTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("is made with the model of that name, in every form", arguments: ["Notes", "Zettel & Käse 📝"])
    func found(_ name: String) async throws {
        let files = try ModelFiles(name)
        let bundle = try files.bundle
        let url = folder.file("a/Store.sqlite")
        let stack = try await CoreDataStack.constructSQLiteStack(modelName: name, in: bundle, at: url)
        let worker = stack.newChildContext()
        await worker.perform { _ = worker.insertNote("kept", 3) }
        try await worker.saveToStore()
        let again = try await constructed { CoreDataStack.constructSQLiteStack(modelName: name, in: bundle, at: url, callback: $0) }
        #expect(try await again.mainQueueContext.fetchedTexts() == ["kept": 3])
        let memory = try CoreDataStack.constructInMemoryStack(modelName: name, in: bundle)
        #expect(try await memory.mainQueueContext.fetchedTexts() == [:])
    }

    @Test("is made with the model that generated sources have registered, where no bundle is told")
    func registered() async throws {
        let (name, model) = ("Registered \(UUID())", NoteModel.make())
        NSManagedObjectModel.register(name) { model }
        let stacks = [
            try CoreDataStack.constructInMemoryStack(modelName: name),
            try await CoreDataStack.constructSQLiteStack(modelName: name, at: folder.file("Store.sqlite")),
        ]
        #expect(stacks.allSatisfy { $0.privateQueueContext.persistentStoreCoordinator?.managedObjectModel === model })
        let bundle = try ModelFiles(nil).bundle
        #expect(throws: CocoaError.self) { try CoreDataStack.constructInMemoryStack(modelName: name, in: bundle) }
    }

    // * There is no model of the name, or one that is damaged.
    // => An error says so; no folder and no file was made.
    @Test("without such a model is an error, and nothing is made")
    func missing() async throws {
        let files = try ModelFiles("Notes")
        try Data("no model".utf8).write(to: files.folder.appendingPathComponent("Broken.mom"))
        let bundle = try files.bundle
        let url = folder.file("a/Store.sqlite")
        for (name, code) in [("Nothing", CocoaError.Code.fileReadNoSuchFile), ("Broken", .fileReadCorruptFile), ("", .fileReadNoSuchFile)] {
            let errors = [
                await #expect(throws: CocoaError.self) {
                    try await CoreDataStack.constructSQLiteStack(modelName: name, in: bundle, at: url)
                },
                await #expect(throws: CocoaError.self) {
                    try await constructed { CoreDataStack.constructSQLiteStack(modelName: name, in: bundle, at: url, callback: $0) }
                },
                #expect(throws: CocoaError.self) { try CoreDataStack.constructInMemoryStack(modelName: name, in: bundle) },
            ]
            #expect(errors.map(\.?.code) == [code, code, code])
            #expect(errors.allSatisfy { $0?.localizedDescription.contains(files.folder.lastPathComponent) == true })
        }
        #expect(try folder.contents().isEmpty)
    }

    @Test("answers on the queue asked for, failures too")
    func callbackQueue() async throws {
        let bundle = try ModelFiles(nil).bundle
        let isOnMain = await withCheckedContinuation { continuation in
            CoreDataStack.constructSQLiteStack(modelName: "Nothing", in: bundle, on: .main) { result in
                dispatchPrecondition(condition: .onQueue(.main))
                guard case .failure = result else { return continuation.resume(returning: false) }
                continuation.resume(returning: true)
            }
        }
        #expect(isOnMain)
    }

    // * A program asks for a stack by name; the model is beside the executable.
    // => The store has the model's name, in the default place.
    @Test("is in a file of that name where no place is told")
    func defaultPlace() throws {
        let (name, environment) = ("Model \(UUID())", ["XDG_DATA_HOME": folder.url.path])
        let program = try OtherProcess(program: "StackProgram", ["place", name], environment: environment)
        let missing = program.rest()
        for words in ["There is no model named", "needs CoreDataModelPlugin among its plugins"] {
            #expect(missing.last?.contains(words) == true, "\(missing)")
        }
        let model = Places.products.appendingPathComponent("\(name).xcdatamodel")
        defer { try? FileManager.default.removeItem(at: model) }
        try ModelFiles.write(to: model)
        let said = try OtherProcess(program: "StackProgram", ["place", name], environment: environment).rest()
        #expect(said == ["\(folder.url.path)/StackProgram/\(name).sqlite"])
    }

    private func constructed(_ construct: (@escaping CoreDataStack.SetupCallback) -> Void) async throws -> CoreDataStack {
        try await withCheckedThrowingContinuation { continuation in
            construct { result in
                switch result {
                case .success(let stack): continuation.resume(returning: stack)
                case .failure(let error): continuation.resume(throwing: error)
                }
            }
        }
    }
}
