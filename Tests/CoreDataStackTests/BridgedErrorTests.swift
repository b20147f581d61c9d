import CoreData
import CoreDataStack
import Foundation
import Testing

@Suite("An error of this package")
struct BridgedErrorTests {
    private static let errors: [any Error] = [
        CoreDataStack.Error.storeWasReset, CoreDataStack.Error.storeNotFound(at: URL(fileURLWithPath: "/x")),
        PredicateFormatError(format: "a ==", offset: 4, reason: "an end"), PredicateEvaluationError.undefinedVariable("x"),
    ]

    /// As code for a Mac has it, where the compiler needs no other clause.
    private func caught(_ error: any Error) -> NSError {
        do {
            return try thrown(error)
        } catch let error as NSError {
            return error
        }
    }

    private func thrown(_ error: any Error) throws -> NSError { throw error }

    @Test("is caught by `catch let error as NSError`, says the same, and can be cast back", arguments: errors)
    func bridges(error: any Error) throws {
        let bridged = caught(error)
        #expect(bridged.localizedDescription == (error as? any LocalizedError)?.errorDescription)
        #expect(bridged.localizedDescription == error.localizedDescription)
        let again: any Error = bridged
        switch error {
        case let error as CoreDataStack.Error: #expect(again as? CoreDataStack.Error == error)
        case let error as PredicateFormatError: #expect(again as? PredicateFormatError == error)
        default: #expect(again as? PredicateEvaluationError == .undefinedVariable("x"))
        }
    }
}
