import CoreData
import WordNetData

extension Lexicon {
    /// Inserts every row into a context, saving and resetting it after about 10,000 objects.
    ///
    /// > Concurrency: on the context's queue.
    /// - Parameter progress: called after each save with the number of rows that it inserted.
    /// - Throws: what `save()` throws. The rows that were saved before are in the store then.
    public func insertRows(into context: NSManagedObjectContext, progress: @escaping (_ rows: Int) -> Void = { _ in }) throws {
        var importer = Importer(self, into: context, progress: progress)
        try importer.run()
    }
}
