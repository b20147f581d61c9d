import Foundation
import Logging

/// What a debug build does where a context or an object is used off its queue: it stops at a change, and logs a read once a place.
///
/// The variable `COREDATA_CONCURRENCYDEBUG`, or the argument `-com.apple.CoreData.ConcurrencyDebug`, chooses: `trap` (or 1) stops at both,
/// `log` logs both, `off` (or 0) does nothing.
enum Confinement {
    case strict, standard, logged, off

    init(setting: String?) {
        self =
            switch setting?.lowercased() {
            case "trap", "1": .strict
            case "log": .logged
            case "off", "0": .off
            default: .standard
            }
    }

    fileprivate static let current = Confinement(setting: LaunchSetting.value("ConcurrencyDebug"))

    private static let choice = "COREDATA_CONCURRENCYDEBUG=trap|log|off chooses what happens here"

    private static let places = Lock<Set<[UInt]>>([])

    fileprivate func report(isChange: Bool, _ sentence: @autoclosure () -> String) {
        switch self {
        case .off: break
        case .strict: misuse("\(sentence()) \(Self.choice).")
        case .standard where isChange: misuse("\(sentence()) \(Self.choice).")
        case .standard, .logged:
            guard Self.isNewPlace() else { return }
            Logger(label: "CoreData").warning("\(sentence()) \(Self.choice); this place is named once.")
        }
    }

    /// Whether the callers have not been here before: those around the accessor tell one place in a program from another.
    private static func isNewPlace() -> Bool {
        let callers = Thread.callStackReturnAddresses.prefix(16).map(\.uintValue)
        return places.withLock { $0.insert(Array(callers)).inserted }
    }
}

// Without DEBUG there is nothing of this.
extension NSManagedObjectContext {
    /// Stops a debug build where the caller is about to change the context off its queue.
    @inline(__always) func checkQueue(_ member: StaticString = #function) {
        #if DEBUG
            if !isUsableHere { reportUseOffQueue(member, isChange: true) }
        #endif
    }

    /// Logs that the caller reads the context off its queue.
    @inline(__always) func checkReading(_ member: StaticString = #function) {
        #if DEBUG
            if !isUsableHere { reportUseOffQueue(member, isChange: false) }
        #endif
    }

    /// The first for what may be set from anywhere before the context has had an object.
    @inline(__always) func checkSetUp(_ member: StaticString = #function) {
        #if DEBUG
            if !identityMap.isUnused, !isUsableHere { reportUseOffQueue(member, isChange: true) }
        #endif
    }

    /// Whether the caller is on the context's queue; everybody is where the context has none.
    var isUsableHere: Bool { queue.isCurrent || concurrencyType == .confinementConcurrencyType }

    #if DEBUG
        private func reportUseOffQueue(_ member: StaticString, isChange: Bool) {
            Confinement.current.report(
                isChange: isChange,
                """
                \(member) of \(name ?? "a context") was used off the context's queue. Wrap it in context.performAndWait { … } or \
                await context.perform { … }\(queue.isMain ? ", or use it on the main actor" : "").
                """
            )
        }
    #endif
}

extension NSManagedObject {
    /// Stops a debug build where the caller is about to change the object off the queue of its context.
    @inline(__always) final func checkQueue() {
        #if DEBUG
            verifyQueue(isChange: true)
        #endif
    }

    /// Logs that the caller reads the object off the queue of its context.
    @inlinable @inline(__always) final func checkReading() {
        #if DEBUG
            verifyQueue(isChange: false)
        #endif
    }

    #if DEBUG
        @usableFromInline final func verifyQueue(isChange: Bool) {
            if let context = registeredContext, !context.isUsableHere { reportUseOffQueue(context, isChange: isChange) }
        }

        private func reportUseOffQueue(_ context: NSManagedObjectContext, isChange: Bool) {
            Confinement.current.report(
                isChange: isChange,
                """
                A \(entity.name ?? "managed object") of \(context.name ?? "a context") was \(isChange ? "changed" : "read") off the context's \
                queue. Use it inside context.performAndWait { … } or await context.perform { … }; hand its objectID to other queues, not the \
                object.
                """
            )
        }
    #endif
}
