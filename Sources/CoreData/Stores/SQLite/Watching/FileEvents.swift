import Foundation
import Logging

/// Wakes somebody when a database's files are written, by whichever process.
// Sendable: used on one queue, but for its end.
final class FileEvents: @unchecked Sendable {
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private let url: URL
    private var hasLog = false
    private var isPaused = false

    /// Nil where the system has no more of what that takes.
    init?(_ url: URL, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        // NB: SQLite follows links, and has its log beside what they lead to.
        self.url = url.resolvingSymlinksInPath()
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let descriptor = descriptor
        source.setEventHandler(handler: body)
        source.setCancelHandler { close(descriptor) }
        guard inotify_add_watch(descriptor, url.path, UInt32(IN_MODIFY)) >= 0 else {
            source.resume()
            source.cancel()
            return nil
        }
        watchLog()
        source.resume()
    }

    /// The log may be made later: until then its folder tells of new files.
    private func watchLog() {
        if hasLog { return }
        hasLog = inotify_add_watch(descriptor, url.path + "-wal", UInt32(IN_MODIFY)) >= 0
        if !hasLog { _ = inotify_add_watch(descriptor, url.deletingLastPathComponent().path, UInt32(IN_CREATE | IN_MOVED_TO)) }
    }

    /// Forgets what has happened, so that what happens from now on wakes again.
    func drain() {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while read(descriptor, &buffer, buffer.count) > 0 {}
        watchLog()
    }

    /// What happens meanwhile wakes after `resume()`.
    func pause() {
        if isPaused { return }
        isPaused = true
        source.suspend()
    }

    func resume() {
        guard isPaused else { return }
        isPaused = false
        source.resume()
    }

    /// - Precondition: nobody uses it meanwhile, or later.
    func end() {
        resume()
        source.cancel()
    }
}
