import Logging
import SQLiteDriver

extension StoreDatabase {
    /// Whether the store has a history of its changes, and nobody asks to go on with it: then it is only read, as in Apple's Core Data.
    func mustNotWrite(_ connection: Connection) throws -> Bool {
        guard !options.tracksHistory, try HistoryTables.areThere(connection) else { return false }
        // Who only reads is not kept from anything.
        if options.isReadOnly { return true }
        let path = place.url.path
        Logger(label: "CoreData")
            .warning("The store at \(path) has a history, and is opened without \(NSPersistentHistoryTrackingKey): read-only.")
        return true
    }
}
