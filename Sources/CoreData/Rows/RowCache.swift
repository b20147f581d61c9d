import CShims
import DequeModule
import Foundation
import Synchronization

/// The rows of one store that somebody uses, by root entity and key: the newest version known of each.
///
/// Holds rows weakly; they withdraw themselves when the last user lets go. The latest batches are kept a little longer, up to
/// `recentLimit` bytes, so that an object that is dropped and soon asked for again needs no statement.
final class RowCache: @unchecked Sendable {
    /// Where a row is listed. The cache keeps itself alive while any listing has not been withdrawn, so that a row need not.
    struct Listing {
        private let cache: Unmanaged<RowCache>
        let root: Int32
        /// When the store had the row: as of then, an earlier read says nothing about it.
        fileprivate(set) var moment: UInt32
        /// The latest write below the root entity that the cache had seen.
        let write: Int32
        /// When the row was read, or written here, for those who care.
        private let readAt: UInt32

        fileprivate init(_ cache: RowCache, _ root: Int, _ moment: UInt32) {
            self.cache = Unmanaged.passUnretained(cache)
            self.root = Int32(root)
            self.moment = moment
            write = cache.latestWrite(root)
            readAt = RowClock.now
        }

        /// Whether the row was read longer ago than so many seconds; any was for 0.
        func isOlder(than interval: TimeInterval) -> Bool { interval == 0 || RowClock.age(of: readAt) > interval }

        /// The latest write that the cache has seen by now.
        @inline(__always) var latestWrite: Int32 { cache._withUnsafeGuaranteedRef { $0.latestWrite(Int(root)) } }
        /// Whether rows were written since. Where none were, what is listed is still the newest.
        @inline(__always) var isBehind: Bool { latestWrite != write }
        /// The newest known row of a key.
        func newestRow(_ key: Int64) -> Row? { cache._withUnsafeGuaranteedRef { $0.row(root: Int(root), key: key) } }

        /// Takes a dying batch out of the tables.
        func withdraw(_ batch: RowBatch) { cache.takeUnretainedValue().withdraw(batch, root: Int(root)) }
        /// Takes a dying own row out of the tables.
        func withdraw(_ row: OwnRow, key: Int64) { cache._withUnsafeGuaranteedRef { $0.withdraw(row, key: key, root: Int(root)) } }
    }

    static let recentLimit = 1 << 20

    // Guards everything below. Never held while a row is released: a row's deinit takes it.
    private let mutex = Mutex()
    @exclusivity(unchecked) private var tables: [PagedTable?]
    /// When the cache heard of the latest write below each root entity: what a read found that had begun before may be what was there before.
    @exclusivity(unchecked) private var heardAt: [UInt32]
    /// Batches and own rows that are to be withdrawn yet.
    @exclusivity(unchecked) private var listingCount = 0
    @exclusivity(unchecked) private var recent: Deque<RowBatch> = []
    @exclusivity(unchecked) private var recentBytes = 0
    // The number of the latest write that replaced or removed rows, by root entity: written under the mutex, read by everybody who fires a
    // fault. A pointer, because Swift has no arrays of atomics. The deinit gives it back.
    private let writes: UnsafeMutablePointer<Int32>
    /// No two writes have one number, whichever cache and entity they concern.
    private static let writeNumbers = Atomic<Int32>(0)

    private let latestMoment = Atomic<UInt32>(0)

    /// The next moment: a read begins, or the rows of a save are in the store.
    func nextMoment() -> UInt32 { latestMoment.wrappingAdd(1, ordering: .relaxed).newValue }

    init(entityCount: Int) {
        tables = Array(repeating: nil, count: entityCount)
        heardAt = Array(repeating: 0, count: entityCount)
        writes = .allocate(capacity: max(entityCount, 1))
        writes.initialize(repeating: 0, count: max(entityCount, 1))
    }

    deinit {
        tables.forEach { $0?.deallocate() }
        writes.deallocate()
    }

    @inline(__always) fileprivate func latestWrite(_ root: Int) -> Int32 { cd_loadRelaxed(writes + root) }

    /// Rows of the root entity are about to be others: whoever holds one looks for a newer one before it is used.
    private func noteWrite(_ root: Int) {
        noteReplacement(root)
        heardAt[root] = nextMoment()
    }

    /// Other rows are listed now.
    private func noteReplacement(_ root: Int) {
        cd_storeRelaxed(writes + root, Self.writeNumbers.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Whether a read that began at a moment may have missed the latest write.
    private func mayBeOutdated(_ root: Int, readAt moment: UInt32) -> Bool {
        let age = Int32(bitPattern: moment &- heardAt[root])
        // Moments go round: one that is long past is brought along.
        if age > 1 << 30 { heardAt[root] = moment &- 1 << 29 }
        return age < 0
    }

    /// The newest known row of a key, if anybody uses it.
    func row(root: Int, key: Int64) -> Row? {
        mutex.withLock { lockedRow(root, key) }
    }

    /// Whether no newer row is known than the one that any of the changes is measured against. Where it says no, there may still be none.
    func knowsNothingNewer(than changes: ContiguousArray<some MeasuredChange>, root: Int) -> Bool {
        mutex.lock()
        defer { mutex.unlock() }
        guard let table = tables[root] else { return true }
        return changes.withUnsafeBufferPointer { changes in
            changes.indices.allSatisfy { index in
                guard let entry = table.find(changes[index].key) else { return true }
                return changes[index].base.map { Self.entry($0) == entry } ?? true
            }
        }
    }

    /// What stands in a table for a row: the address of its owner, its lowest bit set for an own row.
    @inline(__always) private static func entry(_ row: Row) -> UnsafeRawPointer {
        let owner = UnsafeRawPointer(Unmanaged.passUnretained(row.owner).toOpaque())
        return row.isOwn ? owner + 1 : owner
    }

    private func lockedRow(_ root: Int, _ key: Int64) -> Row? {
        guard let entry = tables[root]?.find(key) else { return nil }
        let isOwn = UInt(bitPattern: entry) & 1 != 0
        // An entry is the address of a live object or of one whose deinit waits for the lock; its lowest bit tells own rows.
        let pointer = UnsafeRawPointer(bitPattern: UInt(bitPattern: entry) & ~1)!
        if isOwn { return retainIfAlive(pointer, as: OwnRow.self).map { Row($0) } }
        guard let batch = retainIfAlive(pointer, as: RowBatch.self) else { return nil }
        return batch.index(ofKey: key).map { Row(batch, $0) }
    }

    /// Lists the rows of a batch that was just read. A row that is already known in the same version stays, and one that came into the store
    /// since the read began; those are returned, to be used instead: one entry per row, or none at all where no row was known.
    ///
    /// Where rows were written since, those that are not known are the reader's alone: nobody can tell whether they are what was there before.
    ///
    /// NB: what is read later counts, though its version is lower: it may have been deleted and written again, or come from a backup.
    ///
    /// - Parameter derived: slots that may have other values in the same version: what is read later counts.
    func publish(_ batch: RowBatch, root: Int, readAt moment: UInt32, derived: SlotMask = SlotMask()) -> [Row?] {
        let pointer = Unmanaged.passUnretained(batch).toOpaque()
        var known: [Row?] = []
        // Rows whose last reference is the one taken below must not be released under the lock.
        var released: [Row] = []
        mutex.lock()
        noteListing()
        if tables[root] == nil { tables[root] = PagedTable() }
        let mayBeOutdated = mayBeOutdated(root, readAt: moment)
        for index in 0..<batch.count {
            let row = batch.row(index)
            let key = EntityLayout.key(row)
            if tables[root]?.find(key) != nil, let existing = lockedRow(root, key) {
                let version = EntityLayout.version(row)
                // Of rows whose versions are not known the one that was read last counts.
                let isSame =
                    existing.version == version
                    && (derived.isEmpty || existing.differences(from: Row(batch, index), among: derived).isEmpty)
                if version != 0, isSame || (existing.version > version && existing.isKnown(since: moment)) {
                    if known.isEmpty { known = Array(repeating: nil, count: batch.count) }
                    known[index] = existing
                    continue
                }
                released.append(existing)
            } else if mayBeOutdated {
                continue
            }
            tables[root]?.insert(key, pointer)
        }
        if !released.isEmpty { noteReplacement(root) }
        batch.listing = Listing(self, root, moment)
        mutex.unlock()
        return known
    }

    /// Keeps a batch for a while, though nobody may use it.
    func keep(_ batch: RowBatch) {
        var dropped: [RowBatch] = []
        mutex.withLock {
            recent.append(batch)
            recentBytes += batch.byteCount
            while recentBytes > Self.recentLimit, let oldest = recent.popFirst() {
                recentBytes -= oldest.byteCount
                dropped.append(oldest)
            }
        }
        withExtendedLifetime(dropped) {}
    }

    /// Lists rows that were just updated, in place of those that they were measured against; not those whose version is 0, nor those that a
    /// later save has replaced or deleted.
    ///
    /// - Parameter isOvertaken: whether a later save came here before. A row that is not listed any more may have been deleted by that.
    func publish(updates: ContiguousArray<ChangeSet.Update>, versions: ContiguousArray<Int32>, root: Int, isOvertaken: Bool) {
        guard !updates.isEmpty else { return }
        let moment = nextMoment()
        // As for a batch.
        var released: [Row] = []
        mutex.withLock {
            noteWrite(root)
            for index in updates.indices where versions[index] != 0 {
                let other = otherRow(updates[index], root)
                let isListed = !isOvertaken || tables[root]?.find(updates[index].key) != nil
                let isNewest = other.map { $0.version <= versions[index] } ?? isListed
                updates[index].row.withOwn {
                    list($0, key: updates[index].key, version: versions[index], root: root, moment, isNewest: isNewest)
                }
                if let other { released.append(other) }
            }
        }
        withExtendedLifetime(released) {}
    }

    /// The listed row of an update's key, where it is not the one that the update was measured against.
    @inline(__always) private func otherRow(_ update: ChangeSet.Update, _ root: Int) -> Row? {
        guard let base = update.base, let entry = tables[root]?.find(update.key), Self.entry(base) != entry else { return nil }
        return lockedRow(root, update.key)
    }

    /// Lists rows that were just inserted.
    func publish(inserts: ContiguousArray<ChangeSet.Insert>, keys: ContiguousArray<Int64>, root: Int) {
        let moment = nextMoment()
        mutex.withLock {
            for index in inserts.indices {
                inserts[index].row.withOwn {
                    list($0, key: keys[index], version: EntityLayout.versionOfInsert($0.bytes), root: root, moment, isNewest: true)
                }
            }
        }
    }

    @inline(__always) private func list(
        _ row: OwnRow,
        key: Int64,
        version: Int32,
        root: Int,
        _ moment: UInt32,
        isNewest: Bool
    ) {
        // A row that came up from another context says its key already, and may be read by it now.
        if EntityLayout.key(row.bytes) != key { row.bytes.storeBytes(of: key, as: Int64.self) }
        EntityLayout.setVersion(row.bytes, version)
        guard isNewest else { return }
        row.withUnsafeMutablePointerToHeader { header in
            guard header.pointee.listing == nil else { return header.pointee.listing?.moment = moment }
            header.pointee.listing = Listing(self, root, moment)
            noteListing()
        }
        if tables[root] == nil { tables[root] = PagedTable() }
        tables[root]?.insert(key, UnsafeRawPointer(Unmanaged.passUnretained(row).toOpaque()) + 1)
    }

    /// The known rows of the keys of a batch that holds some values only, to be used instead of its own; empty where there is none. Of those
    /// that the batch shows to be old, none is known any more.
    ///
    /// - Parameter derived: those of its slots that may have other values in the same version.
    func rows(insteadOf batch: RowBatch, root: Int, derived: SlotMask) -> [Row?] {
        var known: [Row?] = []
        var old: [Int64] = []
        for index in 0..<batch.count {
            let (key, version) = (EntityLayout.key(batch.row(index)), EntityLayout.version(batch.row(index)))
            guard let existing = row(root: root, key: key) else { continue }
            let isSame = derived.isEmpty || existing.differences(from: Row(batch, index), among: derived).isEmpty
            if version == 0 || existing.version < version || (existing.version == version && !isSame) {
                old.append(key)
            } else {
                if known.isEmpty { known = Array(repeating: nil, count: batch.count) }
                known[index] = existing
            }
        }
        forget(root: root, keys: old)
        return known
    }

    /// Forgets the row of a key: it was deleted, or is no longer what the store holds.
    func forget(root: Int, key: Int64) {
        mutex.withLock {
            noteWrite(root)
            if let entry = tables[root]?.find(key) { tables[root]?.remove(key, ifValue: entry) }
        }
    }

    /// Forgets the rows of many keys.
    func forget(root: Int, keys: [Int64]) {
        guard !keys.isEmpty else { return }
        mutex.withLock {
            noteWrite(root)
            for key in keys { if let entry = tables[root]?.find(key) { tables[root]?.remove(key, ifValue: entry) } }
        }
    }

    /// Forgets all rows below a root entity: some of them are not what they were, and nobody has said which.
    func forget(root: Int) {
        mutex.withLock {
            noteWrite(root)
            tables[root]?.deallocate()
            tables[root] = nil
        }
    }

    /// Forgets the rows that were deleted.
    func forget(root: Int, deletes: ContiguousArray<ChangeSet.Delete>) {
        guard !deletes.isEmpty else { return }
        mutex.withLock {
            noteWrite(root)
            for index in deletes.indices {
                let key = deletes[index].key
                if let entry = tables[root]?.find(key) { tables[root]?.remove(key, ifValue: entry) }
            }
        }
    }

    /// Forgets everything: the store is gone.
    func forgetAll() {
        var dropped: Deque<RowBatch> = []
        mutex.withLock {
            swap(&dropped, &recent)
            recentBytes = 0
            for index in tables.indices where tables[index] != nil {
                noteWrite(index)
                tables[index]?.deallocate()
                tables[index] = nil
            }
        }
        withExtendedLifetime(dropped) {}
    }

    private func withdraw(_ batch: RowBatch, root: Int) {
        let pointer = UnsafeRawPointer(Unmanaged.passUnretained(batch).toOpaque())
        mutex.lock()
        for index in 0..<batch.count { tables[root]?.remove(EntityLayout.key(batch.row(index)), ifValue: pointer) }
        endListing()
    }

    @inline(__always) private func withdraw(_ row: OwnRow, key: Int64, root: Int) {
        let pointer = UnsafeRawPointer(Unmanaged.passUnretained(row).toOpaque())
        mutex.lock()
        tables[root]?.remove(key, ifValue: pointer + 1)
        endListing()
    }

    /// One more owner of rows will withdraw them: with the first, the cache keeps itself alive.
    @inline(__always) private func noteListing() {
        if listingCount == 0 { _ = Unmanaged.passRetained(self) }
        listingCount += 1
    }

    /// Unlocks; after the last withdrawal the cache lets itself go.
    @inline(__always) private func endListing() {
        listingCount -= 1
        let isLast = listingCount == 0
        mutex.unlock()
        if isLast { Unmanaged.passUnretained(self).release() }
    }
}

extension Row {
    /// Whether the store had the row at a moment, or later.
    fileprivate func isKnown(since moment: UInt32) -> Bool {
        guard let listing = isOwn ? withOwn({ row in row.withUnsafeMutablePointerToHeader { $0.pointee.listing } }) : batch.listing else {
            return false
        }
        return Int32(bitPattern: listing.moment &- moment) >= 0
    }
}
