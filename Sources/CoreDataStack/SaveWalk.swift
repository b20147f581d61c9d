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
    deinit { gate?.leave() }

    /// Saves a layer, on its queue; whether there was anything to save. Without changes too: a context that was left behind says so then.
    ///
    /// - Parameter keepsOwnFailure: whether what the layer itself has changed and cannot save is an error of the walk.
    /// - Throws: what stops the walk.
    @discardableResult func save(_ layer: NSManagedObjectContext, keepsOwnFailure: Bool = true) throws -> Bool {
        let hadChanges = layer.hasChanges
        layers.append(layer)
        if let layer = layer as? StackContext {
            if let failure = try layer.saveOneLayer() {
                // Where the caller's own changes are at fault he learns it here; what others have saved goes on by itself.
                if layer === origin {
                    layer.core.bubble(from: layer)
                    throw failure
                }
                if keepsOwnFailure { self.failure = self.failure ?? failure }
            }
        } else {
            try layer.save()
        }
        noteSave(of: layer)
        return hadChanges
    }

    /// Of what has not come further than the next layer yet, this is the one who reports.
    private func noteSave(of layer: NSManagedObjectContext) {
        guard let save = layer.keptSave, case .waiting = save.outcome else { return }
        save.beAwaited()
        saves.append(save)
    }

    /// The layers to which something may have come back, from above.
    var layersBelow: [NSManagedObjectContext] { layers.reversed() }

    /// Once the walk is over, and what came back is in its context.
    ///
    /// - Throws: why a layer's changes are not in the store.
    func check() throws {
        for save in saves { if case .returned(let error) = save.outcome { throw error } }
        if let failure { throw failure }
    }
}

extension NSManagedObjectContext {
    /// The stack that the context, or one above it, belongs to.
    var stackCore: StackCore? { (self as? StackContext)?.core ?? parent?.stackCore }
}
