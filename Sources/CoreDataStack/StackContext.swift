import CoreData
import Foundation

/// A context of a stack: its saves pass the stack's gate, and go on to the next layer.
// Sendable as every context: what is added is used on the context's queue, or is constant.
class StackContext: NSManagedObjectContext, @unchecked Sendable {
    /// Held by every context, so that saves bubble for as long as one of them lives.
    let core: StackCore

    init(_ type: NSManagedObjectContextConcurrencyType, _ core: StackCore, name: String?) {
        self.core = core
        super.init(concurrencyType: type)
        self.name = name
        letSavesGoOn()
    }

    override func save() throws {
        try core.gate.pass(isOnTheWay: false) {
            let hadChanges = hasChanges
            let failure = try saveWhatCanBe()
            if hadChanges { core.bubble(from: self) }
            if let failure { throw failure }
        }
    }

    /// Saves this layer as a step of a save that the gate has let in; the caller sees to the other layers.
    ///
    /// - Returns: why this layer's own changes could not be saved, while what others have saved into it was.
    /// - Throws: what keeps the layer from being saved at all.
    func saveOneLayer() throws -> (any Error)? {
        // The layers above have been closed since, and before that all that had come to them was written.
        if core.gate.isClosing, isLayer, !hasChanges { return nil }
        return try core.gate.pass(isOnTheWay: true) { try saveWhatCanBe() }
    }

    /// The next step of a save below, which nobody waits for.
    func saveBubbling() throws {
        endChildSavesOfNothing()
        // A flush may have taken it already: what main has of its own, nobody has saved.
        guard self === core.main ? hasChildSaves : hasChanges else { return }
        let failure = try saveOneLayer()
        core.bubble(from: self)
        if let failure { core.errors.report(failure, ofUnsaved: name ?? "a layer") }
    }

    /// Saves this layer; where data are the reason that it fails, and others have saved into it, one save after the other.
    private func saveWhatCanBe() throws -> (any Error)? {
        do {
            try saveMarkingValidation()
            return nil
        } catch  where isLayer && SaveFailure.isOfData(error) {
            return hasChildSaves ? try saveApart(after: error) : SaveFailure.reported(error)
        } catch let failure as ValidationFailure {
            throw failure.error
        }
    }

    /// Whether others save into this context, and their saves go on though it has changes itself that cannot be saved.
    private var isLayer: Bool { self === core.root || self === core.main }
}
