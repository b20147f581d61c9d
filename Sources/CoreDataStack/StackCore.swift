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
        /// Why they are being left behind: who comes now has come too late.
        var leftBehind: CoreDataStack.Error?
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

    /// Notes a context that a reset or the end of the stack leaves behind; at once, where that is under way.
    func add(_ context: StackContext) {
        let late = contexts.with { contexts in
            if contexts.leftBehind == nil {
                contexts.transient.removeAll { $0.object == nil }
                contexts.transient.append(Weak(object: context))
            }
            return contexts.leftBehind
        }
        if let late { context.leaveBehind(throwing: late) }
    }

    /// Leaves the contexts behind that there are, and those that are made until a reset ends that; a stack that was closed never does.
    func beginLeavingBehind(throwing error: CoreDataStack.Error) {
        contexts.with { $0.leftBehind = error }
        for context in takeTransientContexts() { context.leaveBehind(throwing: error) }
    }

    func endLeavingBehind() { contexts.with { if $0.leftBehind != .stackWasClosed { $0.leftBehind = nil } } }

    /// Contexts that a reset leaves behind, as far as they live.
    var transientContexts: [StackContext] { contexts.with { $0.transient.compactMap(\.object) } }

    /// They are forgotten here.
    private func takeTransientContexts() -> [StackContext] {
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
