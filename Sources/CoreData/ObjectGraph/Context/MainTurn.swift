import Dispatch

/// Ends the event of a main-queue context that is used on the main queue outside a `perform` block: once a turn, after its first change.
final class MainTurn {
    // Weak: unsaved changes do not keep a context alive.
    private weak var context: NSManagedObjectContext?
    private var isScheduled = false
    /// How many `perform` blocks are running, whose end ends the event.
    private var blocks = 0

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// Something changed, and nothing had since the last event ended.
    func changesBegan() {
        guard let context, !isScheduled, blocks == 0 else { return }
        isScheduled = true
        DispatchQueue.main.async { [weak context] in context?.endTurn() }
    }

    func blockBegins() { blocks += 1 }

    /// - Parameter hasNews: whether something changed since the event ended: who observed that has changed something.
    func blockEnds(hasNews: Bool) {
        blocks -= 1
        if hasNews { changesBegan() }
    }

    func end() {
        isScheduled = false
        // A save that is under way sees to what changed meanwhile.
        if let context, !context.isSaving { context.processPendingChanges() }
    }
}

extension NSManagedObjectContext {
    fileprivate func endTurn() { tracker.turn?.end() }
}
