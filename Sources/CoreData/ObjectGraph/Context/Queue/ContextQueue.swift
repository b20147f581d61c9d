import CShims
import DequeModule
import Dispatch
import Synchronization

/// The queue of a context: the main dispatch queue, or one of its own.
///
/// An own queue is no thread but an ownership: a word that names the thread that has it, or nobody. Whoever finds it free runs its blocks
/// itself. What cannot be served at once is listed, and the contended bit of the word says so: then it is passed on in the order of the
/// list, under the mutex of the wait graph, and nobody overtakes.
///
/// Invariants: with the contended bit clear nothing is listed. With it set the word changes under the mutex only. Something is listed only
/// while a thread owns the queue or a drain is on its way.
final class ContextQueue: @unchecked Sendable {
    // Sendable: `entries` and what follows are guarded by the wait graph's mutex, `depth` by the queue itself, the rest is atomic.
    enum Kind { case own, main }

    enum Entry {
        case request(QueueRequest)
        case block(@Sendable () -> Void)
    }

    static let contended: UInt = 1

    let isMain: Bool
    /// Whose queue this is; nil where it is a coordinator's.
    private(set) weak var context: NSManagedObjectContext?
    let word = Atomic<UInt>(0)
    private let currentLevel = Atomic<Int>(0)
    private let saving = Atomic<Bool>(false)
    private let receiving = Atomic<Bool>(false)
    private let lent = Atomic<Bool>(false)
    /// Where child contexts take turns while the queue is lent; nil as long as there are none. Set under the mutex.
    private(set) var guests: ContextQueue?
    /// Requests of child contexts that wait for the queue. Under the mutex.
    var guestRequests: [QueueRequest] = []
    /// How many blocks of this queue are running, one inside the other.
    private(set) var depth = 0
    var entries = Deque<Entry>()
    var hasDrainScheduled = false
    /// Whether that waits until others have run theirs.
    var awaitsTurn = false
    // Serial: libdispatch always has a thread for a serial queue, whereas blocks that wait for each other starve a concurrent one.
    lazy var drain = DispatchQueue(label: "NSManagedObjectContext")

    init(_ kind: Kind) { isMain = kind == .main }

    /// Says whose queue this is, before anybody uses it.
    func serve(_ context: NSManagedObjectContext) { self.context = context }

    /// The queue of the innermost block that the calling thread is running.
    static var current: ContextQueue? {
        // Who runs a block holds its queue.
        cd_currentThread().pointee.queue.flatMap { retainIfAlive($0) }
    }

    /// The distance from the coordinator: 0 for a context without a parent, else the parent's and 1.
    ///
    /// Tells an upward request from others. Set before the queue is used.
    var level: Int {
        @inline(__always) get { currentLevel.load(ordering: .relaxed) }
        set { currentLevel.store(newValue, ordering: .relaxed) }
    }

    /// Whether the context is in the middle of a save, and is better not disturbed. Set on the queue, read anywhere.
    var isSaving: Bool {
        @inline(__always) get { saving.load(ordering: .relaxed) }
        set { saving.store(newValue, ordering: .relaxed) }
    }

    /// Whether the context is taking what a child saved, and must not be disturbed. Set on the queue, read under the wait graph's mutex.
    private(set) var isReceiving: Bool {
        get { receiving.load(ordering: .relaxed) }
        set { receiving.store(newValue, ordering: .relaxed) }
    }

    /// Runs what takes a child's changes, on the queue: nobody comes in, even where it has to wait for a context above.
    func whileReceiving<Result>(_ body: () throws -> Result) rethrows -> Result {
        let (outer, thread) = (isReceiving, cd_currentThread())
        isReceiving = true
        thread.pointee.receptions += 1
        defer {
            thread.pointee.receptions -= 1
            isReceiving = outer
        }
        return try body()
    }

    /// Whether the caller is on the queue, or a guest while it is lent.
    var isCurrent: Bool {
        @inline(__always) get { (isMain ? MainQueue.isCurrent : isOwned(by: cd_currentThread())) || isGuest }
    }

    /// Whether the owner has lent the queue to child contexts.
    var isLent: Bool {
        get { lent.load(ordering: .acquiring) }
        set { lent.store(newValue, ordering: .releasing) }
    }

    /// Whether nobody is on the queue, and nothing waits for it. Whoever comes later sees what the caller has done before.
    var isIdle: Bool { !isMain && word.load(ordering: .sequentiallyConsistent) == 0 }

    /// From now on there are child contexts.
    func admitGuests() { WaitGraph.mutex.withLock { if guests == nil { guests = ContextQueue(.own) } } }

    /// Whether the caller, who is on the queue, is inside one of its blocks; on the main queue other code runs too.
    var isInBlock: Bool { depth > 0 }

    @inline(__always) private func isOwned(by thread: UnsafeMutablePointer<cd_thread>) -> Bool {
        word.load(ordering: .relaxed) & ~Self.contended == UInt(bitPattern: thread)
    }

    /// Runs a block later, in its turn.
    func async(_ block: @escaping @Sendable () -> Void) {
        if isMain { DispatchQueue.main.async { self.run(block) } } else { list(block) }
    }

    /// Runs a block and waits for it: at once where the caller is on the queue already, else in its turn.
    ///
    /// A thread that waits serves those that wait for it, so that no mixture of calls can come to a standstill.
    @inline(__always) func sync<Result>(_ block: () throws -> Result) rethrows -> Result {
        // NB: a visit is no generic value: an optional result would be made through the runtime's metadata, which takes longer than the rest.
        guard let visit = enter() else { return try wait(for: block) }
        defer { leave(visit) }
        return try block()
    }

    /// Runs a block of a queue that the calling thread is on.
    func run(_ block: () -> Void) {
        let visit = begin(cd_currentThread(), claimsQueue: false)
        block()
        leave(visit)
    }

    /// What is put back when a block ends.
    struct Visit {
        let thread: UnsafeMutablePointer<cd_thread>
        let outerLevel: Int
        let outerQueue: UnsafeMutableRawPointer?
        let claimsQueue: Bool
    }

    /// Begins a block on the calling thread if the queue is its own or nobody's, else does nothing.
    @inline(__always) func enter() -> Visit? {
        let thread = cd_currentThread()
        if isMain { return MainQueue.isCurrent ? begin(thread, claimsQueue: false) : nil }
        if isOwned(by: thread) { return begin(thread, claimsQueue: false) }
        return claim(thread) ? begin(thread, claimsQueue: true) : nil
    }

    @inline(__always) private func begin(_ thread: UnsafeMutablePointer<cd_thread>, claimsQueue: Bool) -> Visit {
        let visit = Visit(
            thread: thread,
            outerLevel: thread.pointee.level,
            outerQueue: thread.pointee.queue,
            claimsQueue: claimsQueue
        )
        thread.pointee.level = level
        thread.pointee.queue = address(of: self)
        depth += 1
        return visit
    }

    /// Ends the block that the visit began.
    @inline(__always) func leave(_ visit: Visit) {
        depth -= 1
        visit.thread.pointee.level = visit.outerLevel
        visit.thread.pointee.queue = visit.outerQueue
        if visit.claimsQueue { giveUp(visit.thread) }
    }

    /// Takes the queue if it is free and nobody has come before.
    @inline(__always) private func claim(_ thread: UnsafeMutablePointer<cd_thread>) -> Bool {
        word.compareExchange(expected: 0, desired: UInt(bitPattern: thread), ordering: .acquiring).exchanged
    }

    @inline(__always) private func giveUp(_ thread: UnsafeMutablePointer<cd_thread>) {
        if word.compareExchange(expected: UInt(bitPattern: thread), desired: 0, ordering: .releasing).exchanged { return }
        WaitGraph.mutex.withLock(passOn)
    }

    /// The slow way of `sync`: the block may run on another thread, while this one sleeps.
    @inline(never) private func wait<Result>(for block: () throws -> Result) rethrows -> Result {
        var outcome: Swift.Result<Result, any Error>?
        withoutActuallyEscaping(block) { block in
            let request = QueueRequest(.current, self) { outcome = Swift.Result { try block() } }
            fulfil(request)
        }
        // The request was run before `fulfil` returned.
        return try outcome!.rethrown(by: block)
    }

    @inline(never) private func fulfil(_ request: QueueRequest) {
        if WaitGraph.mutex.withLock({ isDoneElsewhere(request) }) { return }
        runAndGiveUp(request)
    }

    func runAndGiveUp(_ request: QueueRequest) {
        request.run()
        giveUp(request.thread.record)
    }

    /// Waits until the request was run, or until the calling thread owns the queue and has to run it itself. Mutex held.
    private func isDoneElsewhere(_ request: QueueRequest) -> Bool {
        if claimOrList(request) { return false }
        WaitGraph.sleep(over: request, request.thread)
        return request.state == .done
    }
}
