extension ContextQueue: CustomDebugStringConvertible {
    /// Who has the queue and who waits for it, for a program that stands still.
    var debugDescription: String {
        WaitGraph.mutex.withLock {
            let held = word.load(ordering: .relaxed)
            let drain = hasDrainScheduled ? ", drain scheduled" : ""
            var lines = ["level \(level), saving \(isSaving), word \(String(held, radix: 16)), \(entries.count) listed\(drain)"]
            // Without the contended bit the owner may end at any moment, and nobody waits anyway.
            guard isMain || held & Self.contended != 0, let owner else { return lines[0] }
            lines.append("  owner \(owner.record), \(owner.mailbox.count) in its mailbox")
            if let request = owner.waiting {
                lines.append("  which waits for a queue of level \(request.queue.level), request \(request.state)")
            }
            return lines.joined(separator: "\n")
        }
    }
}
