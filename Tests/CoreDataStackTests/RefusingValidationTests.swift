import CoreDataStack
import Foundation
import Testing

@testable import CoreData

/// A note that is not valid as long as what it names is not there.
private final class PickyNote: Note {
    override func validateForInsert() throws { try validateText() }
    override func validateForUpdate() throws { try validateText() }

    private func validateText() throws { if let text, let error = Refusal(rawValue: text)?.error { throw error } }
}

private enum Refusal: String, CaseIterable {
    case missingFile, posix, url, cancelled, own

    var error: any Error {
        switch self {
        case .missingFile: CocoaError(.fileNoSuchFile)
        case .posix: POSIXError(.ENOENT)
        case .url: URLError(.badURL)
        case .cancelled: CocoaError(.userCancelled)
        case .own: PickyError()
        }
    }
}

private struct PickyError: Error {}

@Suite("What validation throws is a matter of the data, whatever its domain:", .timeLimit(.minutes(20)))
struct RefusingValidationTests {
    @Test("it is thrown as it is, and keeps nobody else's save from the store", arguments: Refusal.allCases, [false, true])
    fileprivate func draft(_ refusal: Refusal, isNew: Bool) async throws {
        let model = NoteModel.make()
        model.entitiesByName["Note"]?.managedObjectClassName = NSStringFromClass(PickyNote.self)
        let bench = try await Bench(.file, model: model)
        let (main, worker) = (bench.main, bench.stack.newChildContext())
        try await main.perform {
            let note = PickyNote(context: main)
            note.text = "draft"
            if !isNew { try main.saveContextToStoreAndWait() }
            note.text = refusal.rawValue
        }
        try await worker.perform {
            PickyNote(context: worker).text = "good"
            try worker.save()
        }
        await bench.settle()
        let reader = try bench.separateContext(options: [NSReadOnlyPersistentStoreOption: true])
        let stored = try reader.performAndWait { Set(try reader.fetch(NSFetchRequest<PickyNote>()).compactMap(\.text)) }
        #expect(stored == (isNew ? ["good"] : ["good", "draft"]))
        await main.perform {
            let error = #expect(throws: (any Error).self) { try main.save() }
            #expect((error as NSError?)?.domain == (refusal.error as NSError).domain)
            #expect((error as NSError?)?.code == (refusal.error as NSError).code)
            #expect(main.hasChanges)
            main.rollback()
        }
        try await bench.stack.flush()
    }
}
