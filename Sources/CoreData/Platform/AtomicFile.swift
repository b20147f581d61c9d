import Foundation

/// A file that is replaced as a whole: whoever reads it, also after a crash, finds the old contents or the new ones.
enum AtomicFile {
    /// Writes beside the file, makes sure that it is on the disk, and puts it in the file's place. A link stays one; what permissions the file has
    /// stay too.
    ///
    /// - Parameter check: is given what is in the file's place now, nil for nothing, and throws where that is not to be replaced. Nobody else who
    ///   writes in this way gets between.
    /// - Returns: what the file is now.
    /// - Throws: a `CocoaError` for what the system says, or what `check` throws; the file is as it was then.
    @discardableResult
    static func write(_ data: Data, to url: URL, _ check: (FileStamp?) throws -> Void) throws -> FileStamp? {
        let target = target(of: url)
        let folder = target.deletingLastPathComponent()
        try check(FileStamp(target))
        let temporary = folder.appendingPathComponent(mark + UUID().uuidString)
        let descriptor = try locking(folder) { _ in
            removeAbandoned(in: folder)
            return try create(temporary, for: target)
        }
        defer { close(descriptor) }
        do {
            try fill(descriptor, data, for: target)
            let stamp = FileStamp(temporary)
            try locking(folder) { folder in
                try check(FileStamp(target))
                guard rename(temporary.path, target.path) == 0 else { throw failure(target) }
                if folder >= 0 { fsync(folder) }
            }
            return stamp
        } catch {
            unlink(temporary.path)
            throw error
        }
    }

    private static let mark = ".coredata-partial-"

    /// Takes away what writers that are no more have left: whoever still writes holds a lock.
    private static func removeAbandoned(in folder: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(mark) && UUID(uuidString: String(name.dropFirst(mark.count))) != nil {
            let path = folder.appendingPathComponent(name).path
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
            close(descriptor)
        }
    }

    /// Where links lead, also one to what is not there yet.
    private static func target(of url: URL) -> URL {
        var target = url.resolvingSymlinksInPath()
        for _ in 0..<32 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target.path) else { break }
            target = URL(fileURLWithPath: next, relativeTo: target.deletingLastPathComponent()).standardizedFileURL
        }
        return target
    }

    private static func mode(of file: URL) -> mode_t {
        var status = stat()
        return stat(file.path, &status) == 0 ? status.st_mode & 0o777 : 0o644
    }

    /// A new file, which is locked for as long as it is open. Errors name the file that it is for, which somebody knows.
    private static func create(_ file: URL, for target: URL) throws -> Int32 {
        let mode = mode(of: target)
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(target) }
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        // Whatever the mask of the process takes away.
        _ = fchmod(descriptor, mode)
        return descriptor
    }

    private static func fill(_ descriptor: Int32, _ data: Data, for target: URL) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure(target) }
                rest = rest.dropFirst(count)
            }
        }
        guard fsync(descriptor) == 0 else { throw failure(target) }
    }

    /// Runs `body` while no other process or thread does so for the folder. What cannot be locked, as some file systems of networks, is not.
    ///
    /// - Parameter body: is given the folder's descriptor, negative where it cannot be opened.
    private static func locking<Result>(_ folder: URL, _ body: (Int32) throws -> Result) throws -> Result {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        if descriptor >= 0 { while flock(descriptor, LOCK_EX) != 0, errno == EINTR {} }
        return try body(descriptor)
    }

    private static func failure(_ file: URL) -> CocoaError {
        let number = errno
        let code: CocoaError.Code =
            switch number {
            case EACCES, EPERM: .fileWriteNoPermission
            case EROFS: .fileWriteVolumeReadOnly
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            case ENOENT, ENOTDIR: .fileNoSuchFile
            default: .fileWriteUnknown
            }
        let text = "\(file.path) cannot be written: \(String(cString: strerror(number)))."
        return CocoaError(
            code,
            userInfo: [
                NSFilePathErrorKey: file.path, NSLocalizedDescriptionKey: text,
                NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(number)),
            ]
        )
    }
}

/// What a file was when it was read or written last, so that it shows whether others have changed it since.
struct FileStamp: Equatable {
    private let device, inode: UInt64
    private let size, seconds, nanoseconds: Int
    /// Not a device, a pipe or a folder, which nobody may put a file in the place of.
    let isRegular: Bool

    /// Nil where there is no file.
    init?(_ url: URL) {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        (size, seconds, nanoseconds) = (Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        isRegular = status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether the file has nothing in it: a place for a new store.
    var isEmpty: Bool { isRegular && size == 0 }
}
