import CShims
import Dispatch

/// The slow paths: who gets the queue next. All under the wait graph's mutex.
extension ContextQueue {
    /// The thread that has the queue, if it has ever slept; for the main queue, the thread on it that is asleep.
    ///
    /// NB: the contended bit has to be set: then the owner cannot leave, nor its thread end, before the mutex is free.
    var owner: ThreadState? {
        if isMain { return WaitGraph.parkedMain }
        return UnsafeMutablePointer<cd_thread>(bitPattern: word.load(ordering: .relaxed) & ~Self.contended).flatMap(ThreadState.at)
    }

    /// Gives a free queue to the request's thread, or lists the request. Whether the thread has the queue now.
    func claimOrList(_ request: QueueRequest) -> Bool {
        if isMain {
            DispatchQueue.main.async { Self.serveOnMain(request) }
            return false
        }
        // From here on nobody takes or leaves the queue without the mutex.
        let before = word.bitwiseOr(Self.contended, ordering: .acquiringAndReleasing).oldValue
        if before == 0 {
            word.store(UInt(bitPattern: request.thread.record), ordering: .relaxed)
            return true
        }
        entries.append(.request(request))
        WaitGraph.drainTurns.hurry(self)
        return false
    }

    private static func serveOnMain(_ request: QueueRequest) {
        let thread = ThreadState.current
        WaitGraph.mutex.withLock {
            // The main thread may have run it already, while it waited itself.
            if request.state == .waiting { WaitGraph.serve(request, thread) }
        }
    }

    /// Lists a block that nobody waits for.
    func list(_ block: @escaping @Sendable () -> Void) {
        WaitGraph.mutex.withLock {
            let before = word.bitwiseOr(Self.contended, ordering: .acquiringAndReleasing).oldValue
            entries.append(.block(block))
            if before == 0 { scheduleDrain() }
        }
    }

    /// The owner is leaving: the queue goes to whoever comes next in the list.
    func passOn() {
        while let next = entries.first {
            switch next {
            case .block:
                word.store(Self.contended, ordering: .releasing)
                return scheduleDrain()
            case .request(let request):
                _ = entries.popFirst()
                // One that was delivered meanwhile has left the list in all but name.
                if request.state == .waiting { return grant(request) }
            }
        }
        word.store(0, ordering: .releasing)
    }

    private func grant(_ request: QueueRequest) {
        word.store(UInt(bitPattern: request.thread.record) | (entries.isEmpty ? 0 : Self.contended), ordering: .releasing)
        WaitGraph.noteGrant(request)
    }

    private func scheduleDrain() {
        guard !hasDrainScheduled else { return }
        hasDrainScheduled = true
        WaitGraph.drainTurns.add(self)
    }

    /// Whether somebody waits for the queue.
    var isAwaited: Bool { entries.contains { if case .request = $0 { true } else { false } } }

    /// Called by the drains' turns.
    func startDrain() { drain.async { self.runListedBlocks() } }

    /// Runs the blocks at the head of the list; then the queue is passed on.
    private func runListedBlocks() {
        // Each block is released before the mutex is taken: its last reference to something may run a deinit.
        while let block = WaitGraph.mutex.withLock(nextBlock) { run(block) }
    }

    /// The block at the head of the list, for the calling thread, which becomes the owner; with nil it is none any more.
    private func nextBlock() -> (@Sendable () -> Void)? {
        if hasDrainScheduled {
            hasDrainScheduled = false
            word.store(UInt(bitPattern: cd_currentThread()) | Self.contended, ordering: .relaxed)
        }
        guard case .block(let block)? = entries.first else {
            passOn()
            WaitGraph.drainTurns.end()
            return nil
        }
        _ = entries.popFirst()
        return block
    }
}
