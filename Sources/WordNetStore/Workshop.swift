import Foundation

/// A folder beside a store's place, in which the store is made.
///
/// It is locked as long as its maker lives, and nobody can forget to unlock it: one that is not was left behind by a process that was killed.
final class Workshop {
    let url: URL
    private let lock: FolderLock

    /// Makes one, and removes those for the same store that no living process has.
    init(for store: URL) throws {
        Self.removeAbandoned(store)
        var made: (url: URL, lock: FolderLock)?
        repeat {
            let url = store.deletingLastPathComponent().appendingPathComponent(Self.name(for: store), isDirectory: true)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            // Nil where somebody has just removed the folder, which was not locked yet.
            made = FolderLock(url, waits: true).map { (url, $0) }
        } while made == nil
        // The loop ends with one.
        (url, lock) = made!
    }

    /// Removes it with whatever is in it.
    func remove() {
        // What cannot be removed now is removed by the next who makes this store.
        withExtendedLifetime(lock) { try? FileManager.default.removeItem(at: url) }
    }

    private static func removeAbandoned(_ store: URL) {
        let folder = store.deletingLastPathComponent()
        // A folder that cannot be read holds nothing that could be removed.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where isName(name, for: store) {
            let url = folder.appendingPathComponent(name, isDirectory: true)
            guard holdsOnlyStore(url, named: store.lastPathComponent), let lock = FolderLock(url, waits: false) else { continue }
            withExtendedLifetime(lock) { try? FileManager.default.removeItem(at: url) }
        }
    }
}

/// What others have put beside a store, whatever its name, stays there.
extension Workshop {
    private static let mark = ".partial-"

    private static func name(for store: URL) -> String { store.lastPathComponent + mark + UUID().uuidString }

    private static func isName(_ name: String, for store: URL) -> Bool {
        let start = store.lastPathComponent + mark
        return name.hasPrefix(start) && UUID(uuidString: String(name.dropFirst(start.count))) != nil
    }

    /// Whether nothing is in the folder but an unfinished store: its file, and what SQLite and Core Data put beside it.
    private static func holdsOnlyStore(_ folder: URL, named name: String) -> Bool {
        let support = ".\(URL(fileURLWithPath: name).deletingPathExtension().lastPathComponent)_SUPPORT"
        // What cannot be read is left alone.
        guard let contents = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return false }
        return contents.allSatisfy { [name, name + "-wal", name + "-shm", name + "-journal", support].contains($0) }
    }
}

/// A lock on a folder that ends with the process.
private final class FolderLock {
    private let descriptor: Int32

    /// Nil where there is no such folder any more, or somebody else has the lock and this does not wait.
    init?(_ folder: URL, waits: Bool) {
        descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let isLocked = flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) == 0
        // NB: some file systems have no locks for folders; there nobody gets one, and nothing is removed.
        guard isLocked || waits, isOpen(at: folder) else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether the folder is the one at its place, and not one that was removed before the lock was there.
    private func isOpen(at folder: URL) -> Bool {
        var (here, there) = (stat(), stat())
        return fstat(descriptor, &here) == 0 && stat(folder.path, &there) == 0 && here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }
}
