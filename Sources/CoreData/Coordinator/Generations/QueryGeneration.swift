import Foundation

/// The state of a coordinator's stores at one moment: when the first of those who have it reads. Whoever has it finds the same.
///
///     awaited ──first read──▶ pinned ──last user gone, or store closed──▶ ended
///
/// Where none of the stores can be read as it was, it stays awaited, and what is read is what the stores have.
final class QueryGeneration: Sendable {
    private struct Pinned {
        weak var store: NSPersistentStore?
        /// As the store was; the store itself where it cannot be read like that.
        let snapshot: any RowStore
    }

    private struct Weak {
        weak var generation: QueryGeneration?
    }

    let id = UUID()
    private weak let coordinator: NSPersistentStoreCoordinator?
    // Held while the snapshots are taken, so that all who read have the same. Nobody is called for that, and no other lock of this kind is taken.
    private let pinned = Lock<[Pinned]?>(nil)

    init(of coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

    func isOf(_ coordinator: NSPersistentStoreCoordinator) -> Bool { self.coordinator === coordinator }

    /// The stores to read, those that were removed since left out. The first call pins them.
    ///
    /// - Throws: a `CocoaError` where a store cannot be read, or too many generations of it are in use.
    func stores() throws -> [any RowStore] {
        guard let all = coordinator?.allStores else { return [] }
        let pinned = try pinned.withLock { pinned in
            if pinned == nil, all.contains(where: Self.isPinnable) {
                pinned = try all.map { Pinned(store: $0, snapshot: try $0.snapshot() ?? $0) }
            }
            return pinned
        }
        guard let pinned else { return all }
        return pinned.lazy.filter { pinned in all.contains { $0 === pinned.store } }.map(\.snapshot)
    }

    /// Whether the generation is something else than what the stores have at the moment, or is going to be.
    var isAnyPinnable: Bool {
        if pinned.withLock({ $0 != nil }) { return true }
        guard let all = coordinator?.allStores, !all.isEmpty else { return true }
        return all.contains(where: Self.isPinnable)
    }

    private static func isPinnable(_ store: any RowStore) -> Bool { store.capabilities.contains(.generations) }
}

/// Finding them again, in this process.
extension QueryGeneration {
    private static let archived = Lock<[UUID: Weak]>([:])

    /// An archive names the generation from now on.
    func noteArchived() {
        Self.archived.withLock { archived in
            archived = archived.filter { $0.value.generation != nil }
            archived[id] = Weak(generation: self)
        }
    }

    /// The one of that name, as long as somebody uses it.
    static func archived(_ id: UUID) -> QueryGeneration? { archived.withLock { $0[id]?.generation } }
}
