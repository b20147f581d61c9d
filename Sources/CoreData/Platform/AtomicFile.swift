import Foundation

/// A file that is replaced as a whole: whoever reads it, also after a crash, finds the old contents or the new ones.
enum AtomicFile {
    /// Writes beside the file, makes sure that it is on the disk, and puts it in the file's place. A link stays one; what permissions the file has
    /// stay too.
    ///
    /// - Throws: a `CocoaError` for what the system says; the file is as it was then.
    static func write(_ data: Data, to url: URL) throws {
        let target = url.resolvingSymlinksInPath()
        let folder = target.deletingLastPathComponent()
        let temporary = folder.appendingPathComponent(".\(target.lastPathComponent).\(UUID().uuidString)")
        do {
            try create(temporary, data, mode: mode(of: target))
            guard rename(temporary.path, target.path) == 0 else { throw failure(target) }
        } catch {
            unlink(temporary.path)
            throw error
        }
        sync(folder)
    }

    private static func mode(of file: URL) -> mode_t {
        var status = stat()
        return stat(file.path, &status) == 0 ? status.st_mode & 0o777 : 0o644
    }

    private static func create(_ file: URL, _ data: Data, mode: mode_t) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(file) }
        defer { close(descriptor) }
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure(file) }
                rest = rest.dropFirst(count)
            }
        }
        guard fsync(descriptor) == 0 else { throw failure(file) }
    }

    /// So that the new name is on the disk as well. What cannot be synced has been renamed all the same.
    private static func sync(_ folder: URL) {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
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

    /// Nil where there is no file.
    init?(_ url: URL) {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        (size, seconds, nanoseconds) = (Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
