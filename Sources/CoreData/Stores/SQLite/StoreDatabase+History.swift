import Logging
import SQLiteDriver

extension StoreDatabase {
    /// Whether the store has a history of its changes, and nobody asks to go on with it: then it is only read, as in Apple's Core Data.
    ///
    /// - Throws: `CocoaError` 134060 where the history is to go on, which this version cannot do.
    func mustNotWrite(_ connection: Connection) throws -> Bool {
        let hasHistory = try !connection.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ATRANSACTION'").isEmpty
        let logger = Logger(label: "CoreData")
        guard hasHistory else {
            if options.tracksHistory {
                logger.warning("\(NSPersistentHistoryTrackingKey) has no effect yet: changes of \(place.url.path) are not tracked.")
            }
            return false
        }
        guard options.tracksHistory else {
            let path = place.url.path
            logger.warning("The store at \(path) has a history, and is opened without \(NSPersistentHistoryTrackingKey): read-only.")
            return true
        }
        throw CocoaError.coreData(
            .coreData,
            "The store at \(place.url.path) has a history of changes, which cannot be continued yet: open it read-only.",
            userInfo: [NSFilePathErrorKey: place.url.path]
        )
    }
}
