import Foundation

extension NotificationCenter {
    /// The notifications of a name that are posted while somebody iterates, those of one object or of all.
    ///
    /// ```swift
    /// for await notification in NotificationCenter.default.notifications(named: .NSManagedObjectContextDidSave, object: context) { … }
    /// ```
    /// What is posted between two turns of the loop waits for its turn. The loop ends with its task.
    ///
    /// > Concurrency: a notification comes after its posting has returned, and elsewhere: of a context's objects take the IDs, and `perform`.
    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
        Notifications(center: self, name: name, object: object)
    }

    /// The notifications of a center as a sequence.
    // Sendable: a center may be used from anywhere, and the object is only compared.
    public final class Notifications: AsyncSequence, @unchecked Sendable {
        public typealias Element = Notification
        private let center: NotificationCenter
        private let name: Notification.Name
        private let object: AnyObject?

        init(center: NotificationCenter, name: Notification.Name, object: AnyObject?) {
            (self.center, self.name, self.object) = (center, name, object)
        }

        /// Observes from now on.
        public func makeAsyncIterator() -> Iterator {
            let (stream, continuation) = AsyncStream.makeStream(of: Posted.self)
            let observer = center.addObserver(forName: name, object: object, queue: nil) { continuation.yield(Posted(notification: $0)) }
            let observation = Observation(center: center, observer: observer)
            continuation.onTermination = { _ in observation.end() }
            return Iterator(posted: stream.makeAsyncIterator())
        }
    }
}

extension NotificationCenter.Notifications {
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var posted: AsyncStream<Posted>.Iterator

        /// The next notification; nil when the task was cancelled.
        public mutating func next() async -> Notification? { await posted.next()?.notification }
    }
}

/// A notification on its way to the loop.
// Sendable: only one iterator takes it; what is in it is used as its documentation says, as with Apple.
private struct Posted: @unchecked Sendable {
    let notification: Notification
}

// Sendable: a center may be used from anywhere.
private struct Observation: @unchecked Sendable {
    let center: NotificationCenter
    let observer: any NSObjectProtocol

    func end() { center.removeObserver(observer) }
}
