import CoreData
import Foundation

/// What the contexts of one stack share: the way up for their saves, and the gate that a reset closes.
final class StackCore: Sendable {
    let coordinator: NSPersistentStoreCoordinator
    let errors = SaveErrors()
    private let contexts = Guarded(Contexts())
    let gate = SaveGate()

    private struct Weak<Object: AnyObject> {
        weak var object: Object?
    }

    private struct Contexts {
        weak var root: StackContext?
        weak var main: StackContext?
        /// Contexts that a reset leaves behind.
        var transient: [Weak<StackContext>] = []
        /// Whether one is leaving them behind: who comes now has come too late.
        var isLeavingBehind = false
        var following: HistoryFollowing?
    }

    init(_ coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

    func attach(root: StackContext, main: StackContext) {
        contexts.with { ($0.root, $0.main) = (root, main) }
        let keeper = ChildSaveKeeper(
            makeContext: { [weak self] in
                guard let self, let main = self.main else { return nil }
                return makeChild(.privateQueueConcurrencyType, name: "Returned Changes", of: main)
            },
            admit: { [gate] in try gate.check() },
            report: { [errors] in errors.report($0, isFinal: true) },
            willReturn: { [gate] in gate.enter() },
            didReturn: { [gate] in gate.leave() }
        )
        for context in [root, main] { context.keepChildSaves(keeper) }
    }

    /// Follows a history for as long as the stack lasts.
    func keep(_ following: HistoryFollowing?) { contexts.with { $0.following = following } }

    var following: HistoryFollowing? { contexts.with { $0.following } }

    var root: StackContext? { contexts.with { $0.root } }
    var main: StackContext? { contexts.with { $0.main } }

    /// A new child of main.
    func makeChild(_ type: NSManagedObjectContextConcurrencyType, name: String?, of main: NSManagedObjectContext) -> StackContext {
        let child = StackContext(type, self, name: name)
        child.parent = main
        child.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        add(child)
        return child
    }

    /// Notes a context that a reset leaves behind; at once, where one is under way.
    func add(_ context: StackContext) {
        let isLate = contexts.with { contexts in
            if contexts.isLeavingBehind { return true }
            contexts.transient.removeAll { $0.object == nil }
            contexts.transient.append(Weak(object: context))
            return false
        }
        if isLate { context.leaveBehind(throwing: .storeWasReset) }
    }

    /// A reset leaves the contexts behind that there are, and those that are made until it ends that.
    func beginLeavingBehind() {
        contexts.with { $0.isLeavingBehind = true }
        for context in takeTransientContexts() { context.leaveBehind(throwing: .storeWasReset) }
    }

    func endLeavingBehind() { contexts.with { $0.isLeavingBehind = false } }

    /// Contexts that a reset leaves behind, as far as they live.
    var transientContexts: [StackContext] { contexts.with { $0.transient.compactMap(\.object) } }

    /// The contexts that a reset leaves behind; they are forgotten here.
    func takeTransientContexts() -> [StackContext] {
        contexts.with { contexts in
            defer { contexts.transient = [] }
            return contexts.transient.compactMap(\.object)
        }
    }
}

extension StackCore {
    /// Takes what a context has saved into its parent further up, later and on the parent's queue.
    func bubble(from context: StackContext) {
        guard let parent = context.parent as? StackContext else { return }
        gate.enter()
        parent.perform { [self] in
            defer { gate.leave() }
            do { try parent.saveBubbling() } catch { errors.report(error) }
        }
    }
}
