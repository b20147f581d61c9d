import CoreData
import Foundation

/// A save on its way through the layers, until it is in the store.
///
/// The gate counts it as one from the first layer to the last: nobody who waits for saves under way passes between two layers.
// Sendable: used by one thread after the other, which follow each other through the queues of the layers.
final class SaveWalk: @unchecked Sendable {
    private let origin: NSManagedObjectContext?
    private let gate: SaveGate?
    private var saves: [ChildSave] = []
    /// Those that nobody else takes on.
    private var ownSaves: [ChildSave] = []
    private var layers: [NSManagedObjectContext] = []
    private var failure: (any Error)?

    /// - Throws: why the gate is closed.
    init(_ origin: NSManagedObjectContext) throws {
        let gate = origin.stackCore?.gate
        // NB: before anything is initialised, or a walk that was not let in would end as well.
        try gate?.begin()
        self.origin = origin
        self.gate = gate
    }

    /// A walk that nobody's save begins, and that is let in always.
    init(of core: StackCore) {
        origin = nil
        gate = core.gate
        core.gate.enter()
    }

    /// Ends the walk where it is not going on.
    deinit {
        for save in ownSaves { save.stay() }
        gate?.leave()
    }

    /// Saves a layer, on its queue; whether there was anything to save, or is on its way. Without changes too: a context that was left behind says so then.
    ///
    /// - Parameter keepsOwnFailure: whether what the layer itself has changed and cannot save is an error of the walk.
    /// - Throws: what stops the walk.
    @discardableResult func save(_ layer: NSManagedObjectContext, keepsOwnFailure: Bool = true) throws -> Bool {
        let earlier = layer === origin ? unsettledSaves(of: layer) : []
        let hadChanges = layer.hasChanges
        layers.append(layer)
        let (failure, saves) = try layer.noteSaves { try saveLayer(layer) }
        note(saves, of: layer)
        expect(earlier)
        guard let failure else { return hadChanges || !self.saves.isEmpty }
        // Where the caller's own changes are at fault he learns it here; what others have saved goes on by itself.
        if layer === origin {
            if let layer = layer as? StackContext { layer.core.bubble(from: layer) }
            throw failure
        }
        if keepsOwnFailure { self.failure = self.failure ?? failure }
        return hadChanges
    }

    /// - Returns: why the layer's own changes could not be saved, while what others have saved into it was.
    private func saveLayer(_ layer: NSManagedObjectContext) throws -> (any Error)? {
        if let layer = layer as? StackContext { return try layer.saveOneLayer() }
        try layer.save()
        return nil
    }

    /// What the caller has saved before, or others' saves have taken along, and may come back yet; what has come back is saved once more.
    private func unsettledSaves(of layer: NSManagedObjectContext) -> [ChildSave] {
        layer.acceptReturnedSaves()
        return layer.unsettledSaves
    }

    /// Of what has not come further than the next layer yet, this is the one who reports, whether it was saved just now or before.
    private func note(_ saved: [ChildSave], of layer: NSManagedObjectContext) {
        saves += saved
        if !(layer is StackContext) { ownSaves += saved }
        guard saved.isEmpty, let save = layer.keptSave, save.isUnsettled else { return }
        expect([save])
    }

    private func expect(_ earlier: [ChildSave]) {
        for save in earlier where !saves.contains(where: { $0 === save }) {
            save.beAwaited()
            saves.append(save)
        }
    }

    /// The layers to which something may have come back, from above.
    var layersBelow: [NSManagedObjectContext] { layers.reversed() }

    private static var discarded: CocoaError {
        let why = "The changes were saved, and thrown away in a context above before they were in the store."
        return CocoaError(.userCancelled, userInfo: [NSLocalizedDescriptionKey: why])
    }

    /// Once the walk is over, and what came back is in its context.
    ///
    /// - Throws: why a layer's changes are not in the store.
    func check() throws {
        for save in saves {
            switch save.outcome {
            case .returning(let error), .returned(let error): throw error
            case .discarded: throw Self.discarded
            case .waiting, .saved: break
            }
        }
        if let failure { throw failure }
    }
}

extension NSManagedObjectContext {
    /// The stack that the context, or one above it, belongs to.
    var stackCore: StackCore? { (self as? StackContext)?.core ?? parent?.stackCore }
}
