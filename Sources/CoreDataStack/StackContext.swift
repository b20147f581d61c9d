import CoreData
import Foundation

/// A context of a stack: its saves pass the stack's gate, and go on to the next layer.
// Sendable as every context: what is added is used on the context's queue, or is constant.
class StackContext: NSManagedObjectContext, @unchecked Sendable {
    /// Held by every context, so that saves bubble for as long as one of them lives.
    let core: StackCore
    /// Whether whoever saves takes the changes further up himself.
    private var isWalking = false
    /// Whether the save is the next step of one below, which the gate has let in already.
    private var isBubbling = false

    init(_ type: NSManagedObjectContextConcurrencyType, _ core: StackCore, name: String?) {
        self.core = core
        super.init(concurrencyType: type)
        self.name = name
    }

    override func save() throws {
        try core.gate.pass(isOnTheWay: isBubbling) {
            let hadChanges = hasChanges
            try super.save()
            if hadChanges, !isWalking { core.bubble(from: self) }
        }
    }

    /// Saves this layer only; the caller sees to the others.
    func saveOneLayer() throws {
        isWalking = true
        defer { isWalking = false }
        try save()
    }

    /// The next step of a save below.
    func saveBubbling() throws {
        isBubbling = true
        defer { isBubbling = false }
        if hasChanges { try save() }
    }
}
