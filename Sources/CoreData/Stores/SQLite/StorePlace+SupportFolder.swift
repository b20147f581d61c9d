import Foundation

extension StorePlace {
    /// The folder of data that Core Data keeps beside a file.
    var supportFolder: URL? {
        guard database == nil else { return nil }
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
    }

    /// That folder, where data of this store alone can be in it: nil where something may not be removed from it.
    ///
    /// NB: stores whose names differ in the extension only have one folder, and a copy of a store has the names of the same files in its rows.
    var ownSupportFolder: URL? { supportFolder.flatMap { isShared($0) ? nil : $0 } }

    private func isShared(_ folder: URL) -> Bool {
        guard FileManager.default.fileExists(atPath: folder.path) else { return false }
        let stem = url.deletingPathExtension().lastPathComponent
        let place = url.deletingLastPathComponent()
        // Where nobody can see who else is there, somebody may be.
        guard let beside = try? FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil) else { return true }
        return beside.contains { other in
            other.deletingPathExtension().lastPathComponent == stem && !Self.isPartOfDatabase(other)
                && StorePlace.file(other).mayBeStore(otherThan: identity)
        }
    }

    /// NB: POSIX drops all locks of a process on a file once it closes it, however it opened it: those on `-shm` are what keeps transactions apart.
    private static func isPartOfDatabase(_ file: URL) -> Bool { ["-wal", "-shm", "-journal"].contains { file.path.hasSuffix($0) } }

    /// NB: one that cannot be read now, as it is locked or others', counts.
    private func mayBeStore(otherThan one: DatabaseIdentity?) -> Bool {
        guard let identity, identity != one, !url.hasDirectoryPath else { return false }
        do { return try !metadata(timeout: 0).uuid.isEmpty } catch {
            return ![.persistentStoreIncompatibleSchema, .fileReadCorruptFile].contains((error as? CocoaError)?.code)
        }
    }
}
