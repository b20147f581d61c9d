import Foundation

extension SQLiteStore {
    /// Goes on with the file under the name that it has now.
    ///
    /// - Throws: a `CocoaError` where there is no store at that place, or another file than the one that is open; nothing has changed then.
    func relocate(to place: URL) throws {
        let fresh = try SQLiteStore.open(
            StorePlace(type: type, url: place),
            model: model,
            configurationName: explicitConfiguration,
            options: (options ?? [:]).merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        )
        fresh.close()
        guard fresh.location == location else {
            throw CocoaError.coreData(
                .persistentStoreOpen,
                "The file at \(place.path) is not the one that the store has open: remove(_:) the store, and add it at the other place.",
                userInfo: [NSFilePathErrorKey: place.path]
            )
        }
        let moved = try SQLiteStore.open(
            StorePlace(type: type, url: place),
            model: model,
            configurationName: explicitConfiguration,
            options: options
        )
        pool.become(moved.pool)
        url = place
    }
}
