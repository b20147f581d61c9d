import Foundation

/// Contexts that stand still while the stores move on.
extension NSManagedObjectContext {
    /// The query generation that the context reads; nil where it reads what the stores have at the moment: unless it was pinned, where none
    /// of its coordinator's stores can be read as it was, and in a child, which reads what its parent reads.
    ///
    /// Given to another context of the same coordinator, it pins that one to the same generation: also where neither has read yet, whoever
    /// reads first pins for both.
    public var queryGenerationToken: NSQueryGenerationToken? {
        checkReading()
        guard let generation = parentLink?.generation, generation.isAnyPinnable else { return nil }
        return NSQueryGenerationToken(.generation(generation))
    }

    /// Pins the context to a query generation: whatever others write or delete, in this process or another, it goes on reading what was there.
    ///
    /// With `current`, that is what the stores have when the context, or one that shares its token, reads next. With nil the context is unpinned.
    /// It moves on to the newest generation, again at the next read, with each `save()` that succeeds, each merge of changes, and `reset()`.
    /// Objects that were used keep their values: `refreshAllObjects()` brings them up to date. Faults that were not have those of the
    /// generation when they fire.
    ///
    /// Only what is read is pinned. A save meets the stores as they are, and others' changes of its rows as conflicts, as ever; while it
    /// resolves them it reads what the stores have. After one that throws, the context is still pinned: where it threw a conflict, set `current`
    /// again before refreshing the object, which finds the older row otherwise.
    ///
    /// SQLite files in WAL mode can be read as they were. Other stores of the coordinator (in memory, with a rollback journal, of one's own)
    /// are read as they are, and so is everything where it has no other. Stores that are added later are not seen before the context moves.
    /// Of stores that are removed nothing can be read any more; a generation of which all are gone has no stores to fetch from
    /// (134070). Binary data in files beside the store are not kept: those of a row that others have changed or deleted are nil.
    ///
    /// A generation in use has a connection of its own, and at most 64 of one store are kept: the next first read throws 134070. It keeps
    /// the write-ahead log from being taken into the file; what others write makes the log grow, and a warning says so beyond 40 MiB.
    ///
    /// > Concurrency: on the context's queue, or before it is first used.
    ///
    /// - Throws: `CocoaError` 134070 for a token of another coordinator, or one that was archived and whose generation has ended; 134060 in a child,
    ///   which reads what its parent reads. The context is as it was then.
    /// - Precondition: the context has a coordinator, or a parent.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        checkSetUp()
        guard let parentLink else { misuse("The context has no persistentStoreCoordinator. Set it before setQueryGenerationFrom.") }
        guard let coordinator = parentLink.coordinator else {
            throw CocoaError.coreData(
                .coreData,
                "A child context reads what its parent reads: call setQueryGenerationFrom on the topmost context."
            )
        }
        parentLink.pin(to: try generation.map { try Self.generation($0, coordinator) })
        forgetUnusedRows()
    }

    private static func generation(_ token: NSQueryGenerationToken, _ coordinator: NSPersistentStoreCoordinator) throws -> QueryGeneration {
        switch token.meaning {
        case .current: return QueryGeneration(of: coordinator)
        case .generation(let generation) where generation.isOf(coordinator): return generation
        case .generation:
            throw CocoaError.coreData(.persistentStoreOperation, "The query generation is one of another coordinator's stores.")
        case .ended:
            throw CocoaError.coreData(
                .persistentStoreOperation,
                "The query generation has ended: no context of this process reads it any more. Use NSQueryGenerationToken.current."
            )
        }
    }

    /// A pinned context is to read what is there by now.
    func moveQueryGeneration() {
        guard let parentLink, let coordinator = parentLink.coordinator, parentLink.generation != nil else { return }
        parentLink.pin(to: QueryGeneration(of: coordinator))
        forgetUnusedRows()
    }

    func postDidSave(_ sets: [NotificationKey: Any]) {
        guard parentLink?.generation != nil, let token = queryGenerationToken else { return post(.NSManagedObjectContextDidSave, sets) }
        post(.NSManagedObjectContextDidSave, sets.merging([.queryGeneration: token]) { $1 })
    }
}
