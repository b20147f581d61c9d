import CoreData
import Foundation

/// A note beside a store that a reset was begun, so that the next who opens it finishes what a killed process has not.
///
/// It says which store is to be emptied: once that is done, or others have done so, there is another one, which is nobody's to empty. As long as whoever
/// resets it lives, it is locked.
struct InterruptedReset: Sendable {
    private let store: URL
    private let note: URL

    init(of store: URL) {
        self.store = store
        note = store.appendingPathExtension("reset")
    }

    /// Runs a reset of the store with an identifier, after one of others that is under way.
    func note(_ identifier: String, _ reset: () throws -> Void) throws {
        let file = try LockedFile.made(at: note)
        defer { file.end() }
        try file.write(identifier)
        let result = Result { try reset() }
        try FileManager.default.removeItem(at: note)
        try result.get()
    }

    /// Empties a store of which a reset was begun, and whose process has ended in the middle.
    func finish(_ coordinator: NSPersistentStoreCoordinator) throws {
        guard let file = try LockedFile.abandoned(at: note) else { return }
        defer { file.end() }
        let identifier = try String(contentsOf: note, encoding: .utf8)
        // Who ended before he could say which has emptied nothing yet, and what others have saved since is not his to take.
        if !identifier.isEmpty { try coordinator.emptyPersistentStore(identifiedBy: identifier, at: store, ofType: NSSQLiteStoreType) }
        try FileManager.default.removeItem(at: note)
    }
}

/// A file that is locked by one at a time, in this process or another, for as long as he lives.
private struct LockedFile {
    private let descriptor: Int32

    /// Makes it, after whoever has it locked.
    static func made(at url: URL) throws -> LockedFile {
        while true {
            guard let file = try LockedFile(url, O_CREAT) else { throw failure(url, errno) }
            if try file.lock(url, waits: true), file.isThere { return file }
            file.end()
        }
    }

    /// One that nobody has locked; nil where there is none.
    static func abandoned(at url: URL) throws -> LockedFile? {
        guard let file = try LockedFile(url, 0) else { return nil }
        if try file.lock(url, waits: false), file.isThere { return file }
        file.end()
        return nil
    }

    /// Nil where there is no such file.
    private init?(_ url: URL, _ flags: Int32) throws {
        descriptor = open(url.path, O_RDWR | O_CLOEXEC | flags, 0o644)
        if descriptor >= 0 { return }
        if errno == ENOENT { return nil }
        throw Self.failure(url, errno)
    }

    /// - Returns: false where somebody else has it.
    private func lock(_ url: URL, waits: Bool) throws -> Bool {
        while flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR {
                defer { end() }
                throw Self.failure(url, errno)
            }
        }
        return true
    }

    /// Whether nobody has removed it before it was locked.
    private var isThere: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    func write(_ text: String) throws {
        // The descriptor is closed by `end()`.
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.synchronize()
    }

    func end() { close(descriptor) }

    private static func failure(_ url: URL, _ code: Int32) -> CocoaError {
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(code))
        let isForbidden = [EACCES, EPERM, EROFS].contains(code)
        return CocoaError(
            isForbidden ? .fileWriteNoPermission : .fileWriteUnknown,
            userInfo: [
                NSLocalizedDescriptionKey: "The note of a reset, \(url.path), cannot be opened: \(String(cString: strerror(code))).",
                NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: cause,
            ]
        )
    }
}
