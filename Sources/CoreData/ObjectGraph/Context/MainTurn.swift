import Dispatch

/// Ends the event of a main-queue context that is used on the main queue outside a block: once a turn, after its first change.
final class MainTurn {
    // Weak: unsaved changes do not keep a context alive.
    private weak var context: NSManagedObjectContext?
    private var isScheduled = false

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// Something changed, and nothing had since the last event ended. Inside a block nothing is to be done: its end ends the event.
    func changesBegan() {
        guard let context, !isScheduled, !context.queue.isInBlock else { return }
        isScheduled = true
        DispatchQueue.main.async { [weak context] in context?.endTurn() }
    }

    func end() {
        isScheduled = false
        if let context, !context.isSaving { context.processPendingChanges() }
    }
}

extension NSManagedObjectContext {
    fileprivate func endTurn() { tracker.turn?.end() }
}
