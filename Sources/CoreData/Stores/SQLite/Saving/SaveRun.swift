import Foundation
import SQLiteDriver

/// Writes one store's part of a save, inside a transaction that the caller ends.
///
/// Deletes come first, so that what they free can be used again; then updates, inserts, and what joins them.
final class SaveRun {
    let store: SQLiteStore
    let changes: StoreChanges
    let connection: Connection
    private(set) var keys = ReservedKeys()
    /// For each group, in order: the versions of its updated rows, 0 where only the store knows it.
    private(set) var updatedVersions: [ContiguousArray<Int32>] = []
    /// What the row cache is to forget once this is committed: rows whose new versions are not known.
    private(set) var unlistedUpdates: [(root: Int, keys: [Int64])] = []
    /// The number of the save among those of the store, once it is committed.
    private(set) var number = 0
    /// Which edit of the store's metadata was written.
    private(set) var writtenMetadata: Int?
    /// The number of the save in the store's history, if it is there.
    private(set) var transaction: Int64?
    /// What triggers have made of derived attributes.
    private(set) var derived = DerivedValues.none
    private var history: HistoryWriter?
    private let positions: PositionAssignment
    /// Whether values under constraints that updates replace are taken away before: an earlier attempt has shown that they can collide.
    private let freesValues: Bool

    /// For each group, in order.
    var insertedKeys: [ContiguousArray<Int64>] { keys.inserted }

    init(_ store: SQLiteStore, _ changes: StoreChanges, _ connection: Connection, freesValues: Bool = false) {
        self.store = store
        self.freesValues = freesValues
        self.changes = changes
        self.connection = connection
        positions = PositionAssignment(connection)
    }

    /// Runs everything up to the commit.
    ///
    /// - Throws: `SaveConflicts`, `BrokenUniqueIndex`, `SQLiteError`, `CocoaError`; the transaction is to be rolled back then.
    func write() throws {
        try store.requireSameStore(connection)
        _ = connection.takeReportedRows()
        history = try store.history.map { try HistoryWriter(store, connection, $0) }
        keys = try KeyReservation(store: store, connection: connection).keys(for: changes)
        let conflicts = ConflictDetection(store, connection)
        try writeDeletes(conflicts)
        for change in changes.rowPositions { positions.put(change) }
        try assignAppended()
        let writer = StatementWriter(schema: store.schema, store: store.number, resolve: resolve)
        try writeUpdates(writer, conflicts)
        try conflicts.throwIfAny()
        try writeInserts(writer)
        try LinkWriter(store: store, connection: connection, resolve: resolve).write(changes)
        derived = try DerivedValues(of: self)
        if let history, try history.finish(changes.origin) { transaction = history.number }
        try writeMetadata()
    }

    private func writeMetadata() throws {
        guard let changed = store.changedMetadata else { return }
        var metadata = changed.metadata
        // Another coordinator may have finished what a migration has left.
        if let found = try StoreMetadata.read(from: connection) { metadata.takeNotesOfMigrations(from: found) }
        try metadata.write(to: connection)
        writtenMetadata = changed.edit
    }

    private func writeDeletes(_ conflicts: ConflictDetection) throws {
        let deletes = DeleteWriter(store: store, connection: connection, conflicts: conflicts)
        for (_, group) in changes.groups {
            try conflicts.checkLocks(of: group)
            try history?.noteDeletes(of: group)
            try deletes.write(group)
        }
    }

    private func assignAppended() throws {
        for append in changes.appends {
            let entity = store.model.entitiesInIndexOrder[Int(append.member.entity)]
            try positions.assign(to: append.row.own, store.saveStatements(entity))
        }
    }

    private func writeUpdates(_ writer: StatementWriter, _ conflicts: ConflictDetection) throws {
        let updates = UpdateWriter(store: store, connection: connection, writer: writer, positions: positions, conflicts: conflicts)
        if freesValues { for (_, group) in changes.groups { try updates.freeValues(of: group) } }
        for (_, group) in changes.groups {
            let written = try updates.write(group)
            try history?.noteUpdates(of: group, changes.changedToManys)
            updatedVersions.append(written.versions)
            if !written.unlisted.isEmpty { unlistedUpdates.append((group.entity.rootEntity.index, written.unlisted)) }
        }
    }

    private func writeInserts(_ writer: StatementWriter) throws {
        let inserts = InsertWriter(store: store, connection: connection, writer: writer, positions: positions)
        for (offset, (_, group)) in changes.groups.enumerated() {
            try inserts.write(group, keys.inserted[offset])
            if !group.inserts.isEmpty { try history?.noteInserts(keys.inserted[offset], group.entity) }
        }
    }

    private func resolve(_ reference: RowReference) throws -> RowReference {
        if reference.key < 0, let permanent = keys.forwarding[reference.key] { return permanent }
        if reference.key > 0, reference.store == store.number || reference.store == 0 { return reference }
        throw CocoaError.externalRelationship(from: store, to: store.model.entitiesInIndexOrder[Int(reference.entity)])
    }

    func noteCommit() { number = store.publicationOrder.next() }

    /// Nothing was written: the rows are as they were, so that the next save assigns positions anew.
    func revertPositions() { positions.revert() }
}
