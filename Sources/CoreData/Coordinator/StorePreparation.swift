/// What is done with a store before it is opened: an option of the store that conforms to this. It is of a layer above.
protocol StorePreparation: AnyObject {
    /// - Throws: why the store is not to be opened; the caller of `addPersistentStore` gets it as it is.
    func prepare(_ opening: StoreOpening) throws
}

extension StoreOpening {
    func prepare() throws {
        try (options?[NSPersistentStoreStagedMigrationManagerOptionKey] as? any StorePreparation)?.prepare(self)
    }
}
