import Foundation

/// The migration of a store's file by a mapping model, for tools: first what it would do, then that.
///
/// > Concurrency: one thread at a time.
package struct MappedFileMigration {
    /// A line for each entity mapping.
    package let rows: [StoreFileMigration.Row]
    private let migration: MigrationInPlace

    /// Looks at the store; nothing is written. Nil for one that opens with the model as it is.
    ///
    /// - Parameter source: the model of the store; nil to find it, most likely in the store itself.
    /// - Throws: a `CocoaError`: 134130 where the store's model is not found, or that one is not the store's; 134110 where the mapping model is for
    ///   other models, or has a policy class that the program does not have.
    package init?(
        of url: URL,
        to model: NSManagedObjectModel,
        from source: NSManagedObjectModel? = nil,
        by mapping: NSMappingModel
    ) throws {
        let inspector = try StoreInspector(url: url)
        defer { inspector.connection.close() }
        if inspector.isCompatible(with: model) { return nil }
        let found = try StoreFileMigration.sourceModel(inspector, url, source)
        found.model.freeze()
        model.freeze()
        let plan = try MappingPlan(mapping, from: found.model, to: model)
        let counts = try inspector.objectCounts()
        rows = plan.mappings.map { mapping in
            StoreFileMigration.Row(
                place: mapping.name,
                change: mapping.words,
                rows: mapping.source?.name.flatMap { counts[$0] }.flatMap { $0 } ?? 0,
                manner: mapping.manner
            )
        }
        let site = StoreSite(url: url, type: NSSQLiteStoreType)
        migration = MigrationInPlace(site: site, source: found, model: model, mapping: mapping)
    }

    /// Writes a copy of the store as it is to a file that is not there yet.
    package func backUp(to url: URL) throws { try StorePlace.file(migration.site.url).backUp(to: url) }

    /// Migrates the store. `progress` is called with how many parts of how many are done.
    ///
    /// - Throws: a `CocoaError`: 134110 with its reason underneath; the store is what it was.
    package func run(progress: @escaping (Int, Int) -> Void = { _, _ in }) throws {
        var migration = migration
        migration.progress = { progress(Int($0 * 100), 100) }
        try migration.run()
    }
}

extension PlannedMapping {
    /// How the objects go.
    fileprivate var manner: String {
        if source == nil || destination == nil { return "" }
        return copiedEntity == nil ? "object by object" : "as rows"
    }

    /// What becomes of the objects, in a few words.
    fileprivate var words: String {
        let policy = hasOwnPolicy ? ", by \(type(of: self.policy))" : ""
        switch (source?.name, destination?.name) {
        case (let source?, let destination?):
            return (source == destination ? "\(source): \(count)" : "\(source) becomes \(destination): \(count)") + policy
        case (let source?, nil): return "\(source) is gone" + policy
        case (nil, let destination?): return "\(destination) is new" + policy
        case (nil, nil): return ""
        }
    }

    private var count: String {
        "\(attributes.count) attributes, \(mapping.relationshipMappings?.count ?? relationships.count) relationships"
    }
}
