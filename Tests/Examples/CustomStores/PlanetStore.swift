import CoreData
import Foundation

/// A store that another module of this package brings by the contract itself: eight rows, which nobody can change.
package final class PlanetStore: NSPersistentStore, RowStore {
    package static let storeType = "Planets"
    private static let names = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]

    package override var type: String { Self.storeType }
    package var capabilities: StoreCapabilities { [] }
    package var location: StoreLocation { .foreign(Self.storeType) }
    package var hasUnwrittenMetadata: Bool { false }
    private var model: NSManagedObjectModel?

    package struct Kind: StoreKind {
        package init() {}

        package func open(_ opening: StoreOpening) throws -> any RowStore {
            let store = PlanetStore(persistentStoreCoordinator: nil, configurationName: nil, at: URL(fileURLWithPath: "/sky"), options: nil)
            (store.identifier, store.isReadOnly, store.model) = ("PLANETS", true, opening.model)
            return store
        }

        package func destroy(at url: URL, options: [AnyHashable: Any]?, releasing release: () throws -> Void) throws {}
        package func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] { [NSStoreTypeKey: PlanetStore.storeType] }
    }

    package func holds(_ entity: NSEntityDescription) -> Bool { entity.name == "Tag" }
    package func close() {}

    package func fetch(_ query: FetchQuery, _ body: (RowRun) throws -> Void) throws -> FetchResidue? {
        let batch = rows(Array(1...Int64(Self.names.count)), query.entity)
        try body(RowRun(batch: batch, range: 0..<Self.names.count, entity: query.entity, store: number, known: []))
        return FetchResidue(predicates: query.predicate.map { [number: $0] } ?? [:], sorts: !query.sortDescriptors.isEmpty, windows: true)
    }

    private func rows(_ keys: [Int64], _ entity: NSEntityDescription) -> RowBatch {
        let batch = RowBatch(layout: entity.rowLayout, capacity: max(keys.count, 1))
        for key in keys {
            let values = entity.rowLayout.slots.map { $0.name == "label" ? SlotValue.string(Self.names[Int(key) - 1]) : .null }
            batch.append(key: key, version: 1, values: values)
        }
        return batch
    }

    package func references(_ query: FetchQuery) throws -> [RowReference]? { nil }
    package func count(_ query: FetchQuery) throws -> Int? { query.predicate == nil && query.limit == 0 ? Self.names.count : nil }
    package func cachedRow(root: Int, key: Int64) -> Row? { nil }
    package func row(for reference: RowReference) throws -> Row? {
        guard let entity = model?.entitiesByName["Tag"], Self.names.indices.contains(Int(reference.key) - 1) else { return nil }
        return Row(rows([reference.key], entity), 0)
    }
    package func rows(for references: [RowReference], root: NSEntityDescription) throws -> [Int64: Row] {
        try references.reduce(into: [:]) { $0[$1.key] = try row(for: $1) }
    }
    package func relatedRows(_ relationship: NSRelationshipDescription, owners: [RowReference]) throws -> [RelatedRow] { [] }
    package func forgetRow(root: Int, key: Int64) {}
    package func key(named text: String, of entity: NSEntityDescription) -> Int64? { Int64(text.dropFirst()) }
    package func reserveKeys(for rows: [Row], of entity: NSEntityDescription) throws -> [Int64] { throw CocoaError(.featureUnsupported) }
    package func save(_ changes: StoreChanges, _ next: () throws -> Void) throws -> StoreReceipt { throw CocoaError(.featureUnsupported) }
}
