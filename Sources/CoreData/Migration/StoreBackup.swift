import Foundation

extension StoreFileMigration {
    /// Writes a copy of the store as it is to a file that is not there yet.
    package func backUp(to url: URL) throws { try place.backUp(to: url) }
}

extension StorePlace {
    /// Writes a copy of the store as it is to a place where nothing is yet, with the data that it has in files of their own. It is whole or not there;
    /// what a killed process has left of one goes with the next attempt.
    ///
    /// NB: files of data stay where it fails: another process may be making the same backup, which needs them, and the next attempt goes on with them.
    func backUp(to copy: URL) throws {
        WorkFile.removeAbandoned(at: copy)
        let work = WorkFile(forNewStoreAt: copy)
        defer { work.remove() }
        try copyExternalFiles(besides: copy)
        try copyDatabase(to: work.url)
        // NB: SQLite does not see to it that such a copy is on the disk.
        try FileHandle(forUpdating: work.url).synchronize()
        try FileManager.default.moveItem(at: work.url, to: copy)
    }
}
