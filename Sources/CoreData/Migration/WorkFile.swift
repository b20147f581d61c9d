import Foundation
import Synchronization

/// The hidden file in which a store is built, beside the place that it will have. One that a killed process has left is removed by the next
/// who migrates, that of a database by whoever opens the store.
struct WorkFile {
    let url: URL

    /// The one of whoever keeps all others from writing to the store.
    init(beside place: URL) { url = Self.url(place, "") }

    /// One of this migration alone: several may want to make a store at the place.
    init(forNewStoreAt place: URL) {
        let number = Self.latestNumber.wrappingAdd(1, ordering: .relaxed).newValue
        url = Self.url(place, ".\(getpid())-\(number)")
    }

    private static let latestNumber = Atomic(0)

    private static func url(_ place: URL, _ owner: String) -> URL {
        let target = place.resolvingSymlinksInPath()
        return target.deletingLastPathComponent().appendingPathComponent(".\(target.lastPathComponent)\(owner).migration")
    }

    /// Removes those of processes that are not there any more.
    static func removeAbandoned(at place: URL) {
        let target = place.resolvingSymlinksInPath()
        let (folder, start) = (target.deletingLastPathComponent(), ".\(target.lastPathComponent).")
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where name.hasPrefix(start) {
            guard name.hasSuffix(".migration"), let owner = Int32(name.dropFirst(start.count).prefix { $0.isNumber }), owner > 0,
                kill(owner, 0) != 0, errno == ESRCH
            else { continue }
            WorkFile(url: folder.appendingPathComponent(name)).remove()
        }
    }

    /// Removes the one that a process has left which was killed while it kept all others from writing to the store.
    static func removeAbandoned(besideDatabase place: URL) {
        let work = WorkFile(beside: place)
        guard access(work.url.path, F_OK) == 0, let connection = try? StorePlace.file(place).connect(.readWrite, timeout: 0) else { return }
        defer { connection.close() }
        // Whoever is at work there has the lock; what stays is found again by the next.
        try? connection.transaction(.immediate) { work.remove() }
    }

    private init(url: URL) { self.url = url }

    /// Nothing has to last that is not moved: it is brought to the disk once, before that.
    func options(_ site: StoreSite) -> [AnyHashable: Any]? {
        guard site.type == NSSQLiteStoreType else { return site.options }
        let pragmas = site.options?[NSSQLitePragmasOption] as? [String: String] ?? [:]
        let own = ["journal_mode": "MEMORY", "synchronous": "OFF"]
        var options = site.options ?? [:]
        options[NSSQLitePragmasOption] = pragmas.merging(own) { $1 }
        // How the contents were made is nobody's history.
        options[NSPersistentHistoryTrackingKey] = nil
        return options
    }

    func remove() {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(url.path + suffix) }
        SupportFolder.remove(of: url)
    }

    /// Puts the file in its place, where nothing is but perhaps an empty file.
    ///
    /// - Throws: `CocoaError` 134160 where there is something after all, or nothing can be written.
    func move(to place: URL) throws {
        let target = place.resolvingSymlinksInPath()
        try sync()
        var status = stat()
        if stat(target.path, &status) == 0, status.st_size > 0 { throw CocoaError.destination(place, "there is something already.") }
        // What somebody has left who removed a store without them would be taken for the new one's. NB: that of a store which is there is in use.
        for suffix in ["-wal", "-shm", "-journal"] { unlink(target.path + suffix) }
        try SupportFolder.move(from: url, to: target)
        guard rename(url.path, target.path) == 0 else { throw Self.failure(place) }
    }

    private func sync() throws {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(url) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Self.failure(url) }
    }

    private static func failure(_ url: URL) -> CocoaError {
        let number = errno
        let underlying = NSError(domain: NSPOSIXErrorDomain, code: Int(number))
        return .destination(url, String(cString: strerror(number)) + ".", underlying)
    }
}

/// The folder beside a store with data in files of their own.
enum SupportFolder {
    private static func folder(_ url: URL) -> URL? { StorePlace.file(url).supportFolder }
    private static func isThere(_ folder: URL) -> Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func move(from url: URL, to other: URL) throws {
        guard let folder = folder(url), isThere(folder), let place = self.folder(other) else { return }
        guard isThere(place) else { return try FileManager.default.moveItem(at: folder, to: place) }
        // NB: a store of another extension has its data there, too; each file has a name of its own for ever.
        try ExternalFiles(folder).copy(to: place)
        remove(of: url)
    }

    static func remove(of url: URL) {
        guard let folder = StorePlace.file(url).ownSupportFolder, isThere(folder) else { return }
        // What stays is found again by the next.
        try? FileManager.default.removeItem(at: folder)
    }
}
