/// What the owner of a queue lets its children do while it waits for a file.
extension ContextQueue {
    /// Runs what may take long and touches nothing of the context, while child contexts are let in, one at a time.
    ///
    /// - Precondition: the caller is on the queue.
    func lend<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let guests = WaitGraph.mutex.withLock(beginLending) else { return try body() }
        // In a guest's turn: nobody is inside then, who would find himself off the queue.
        defer { guests.sync { isLent = false } }
        return try body()
    }

    /// Those who wait already need not wait for the end. Mutex held.
    private func beginLending() -> ContextQueue? {
        guard let guests else { return nil }
        guests.level = level
        isLent = true
        for request in guestRequests where request.state == .waiting {
            request.state = .refused
            request.thread.wakeUp.signal()
        }
        return guests
    }

    /// Whether the caller has been let in while the queue is lent.
    var isGuest: Bool { isLent && guests?.isCurrent == true }

    /// Runs a request of a child context: in its turn, as `sync`, or as a guest where the queue is lent.
    ///
    /// - Precondition: `admitGuests()` was called before.
    func request<Result>(_ block: () throws -> Result) rethrows -> Result {
        var outcome: Swift.Result<Result, any Error>?
        while true {
            withoutActuallyEscaping(block) { block in attempt { outcome = Swift.Result { try block() } } }
            if let outcome { return try outcome.rethrown(by: block) }
        }
    }

    /// Runs the body, or does nothing where the queue was lent, or taken back, at that moment.
    private func attempt(_ body: () -> Void) {
        if isCurrent {
            body()
        } else if isLent {
            guests?.sync { if isLent { body() } }
        } else if let visit = enter() {
            defer { leave(visit) }
            body()
        } else {
            withoutActuallyEscaping(body) { waitAsGuest(QueueRequest(.current, self, $0)) }
        }
    }

    @inline(never) private func waitAsGuest(_ request: QueueRequest) {
        let owns = WaitGraph.mutex.withLock {
            if isLent { return false }
            if claimOrList(request) { return true }
            guestRequests.append(request)
            WaitGraph.sleep(over: request, request.thread)
            guestRequests.removeAll { $0 === request }
            return request.state == .granted
        }
        if owns { runAndGiveUp(request) } else { request.drop() }
    }
}
