import CoreData
import CoreDataStack
import Foundation
import TestSupport
import Testing

// docs/guides/ThreeLayerStack.md shows what stands between the markers, literally.
// snippet
func add(_ text: String, to stack: CoreDataStack) async throws {
    let worker = stack.newChildContext()
    try await worker.perform {
        let note = Note(context: worker)
        note.text = text
        try worker.save()
    }
}
// end of snippet

// snippet
func addSafely(_ text: String, to stack: CoreDataStack) async throws {
    let worker = stack.newChildContext()
    await worker.perform {
        let note = Note(context: worker)
        note.text = text
    }
    try await worker.saveToStore()
}
// end of snippet

// snippet
func logErrors(of stack: CoreDataStack) -> Task<Void, Never> {
    let errors = stack.saveErrors
    return Task { for await error in errors { print("not in the file: \(error)") } }
}
// end of snippet

// snippet
func importTexts(_ texts: [String], into stack: CoreDataStack) async throws {
    let batch = try await stack.newBatchOperationContext()
    try await batch.perform {
        for start in stride(from: 0, to: texts.count, by: 10_000) {
            for text in texts[start...].prefix(10_000) {
                let note = Note(context: batch)
                note.text = text
            }
            try batch.save()
            batch.reset()
        }
    }
}
// end of snippet

// snippet
func note(_ text: String, at url: URL, _ model: NSManagedObjectModel) throws {
    try CoreDataStack.withStack(model: model, at: url) { stack in
        let main = stack.mainQueueContext
        try main.performAndWait {
            Note(context: main).text = text
            try main.save()
        }
    }
}
// end of snippet

// snippet
func logOut(of stack: CoreDataStack) async throws {
    try await stack.resetStore()
}
// end of snippet

private func makeStack(_ model: NSManagedObjectModel, _ url: URL) async throws -> CoreDataStack {
    // snippet
    let stack = try await CoreDataStack.constructSQLiteStack(model: model, at: url)
    // end of snippet
    return stack
}

// snippet
func makeStackOnDocument(_ model: NSManagedObjectModel, _ url: URL) async throws -> CoreDataStack {
    let description = NSPersistentStoreDescription(url: url)
    description.type = NSBinaryStoreType
    return try await CoreDataStack.constructStack(model: model, storeDescription: description)
}
// end of snippet

@Suite("The guide to the stack")
struct GuideTests {
    @Test("shows what is compiled here, and README's snippet is one of it")
    func isCompiled() throws {
        let guide = try String(contentsOf: Places.package.appendingPathComponent("docs/guides/ThreeLayerStack.md"), encoding: .utf8)
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let compiled = source.components(separatedBy: "// snippet\n").dropFirst()
            .compactMap { $0.components(separatedBy: "// end of snippet").first?.trimmingCharacters(in: .whitespacesAndNewlines) }
        let shown = guide.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
        #expect(Set(shown) == Set(compiled))
        let readme = try String(contentsOf: Places.package.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains("```swift\nimport CoreDataStack\n\n" + compiled[compiled.startIndex + 1] + "\n```"))
    }

    @Test("has a stack on a document")
    func document() async throws {
        let folder = try TemporaryFolder()
        let stack = try await makeStackOnDocument(NoteModel.make(), folder.file("Guide.notes"))
        try await add("first", to: stack)
        try await stack.flush()
        #expect(try Data(contentsOf: folder.file("Guide.notes")).starts(with: Data("bplist".utf8)))
    }

    @Test("does what it says")
    func works() async throws {
        let folder = try TemporaryFolder()
        let stack = try await makeStack(NoteModel.make(), folder.file("Guide.sqlite"))
        let (main, errors) = (stack.mainQueueContext, logErrors(of: stack))
        defer { errors.cancel() }
        try await add("first", to: stack)
        #expect(try await main.fetchedTexts() == ["first": 0])
        try await addSafely("second", to: stack)
        try await importTexts((0..<10_001).map { "\($0)" }, into: stack)
        #expect(try await main.perform { try main.count(for: NSFetchRequest<Note>(entityName: "Note")) } == 10_003)
        try await logOut(of: stack)
        #expect(try await main.fetchedTexts() == [:])
        try await addSafely("another user's", to: stack)
        #expect(try await main.fetchedTexts() == ["another user's": 0])
    }
}
