import CoreData
import WordNetData

extension Lexicon {
    /// Imports every row into a new store.
    ///
    /// The store is made in a folder beside `url` and moved there when it is complete and closed. After an error there is nothing.
    ///
    /// - Parameters:
    ///   - options: for `addPersistentStore`.
    ///   - progress: called from time to time with the number of rows that were saved since the last call.
    /// - Throws: a `CocoaError`: there is a file at `url` already, or it cannot be written.
    public func importIntoStore(
        at url: URL,
        options: [AnyHashable: Any]? = nil,
        progress: @escaping (_ rows: Int) -> Void = { _ in }
    ) throws {
        guard !FileManager.default.fileExists(atPath: url.path) else {
            let sentence = "There is a file at \(url.path) already: name another one."
            throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: url.path, NSLocalizedDescriptionKey: sentence])
        }
        let workshop = url.appendingPathExtension("partial-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workshop, withIntermediateDirectories: false)
        // Nothing is lost with it: a complete store has left.
        defer { try? FileManager.default.removeItem(at: workshop) }
        let unfinished = workshop.appendingPathComponent(url.lastPathComponent)
        let store = try Store(at: unfinished, options: options)
        try store.context.performAndWait {
            var importer = Importer(self, into: store.context, progress: progress)
            try importer.run()
        }
        try store.close()
        try FileManager.default.moveItem(at: unfinished, to: url)
    }
}
