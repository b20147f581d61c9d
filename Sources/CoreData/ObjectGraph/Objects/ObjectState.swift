/// The condition of an object, in one word so that an accessor tests it with one instruction.
@usableFromInline struct ObjectState: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt32
    @usableFromInline @inline(__always) init(rawValue: UInt32) { self.rawValue = rawValue }

    /// In its context's identity tables.
    static let registered = Self(rawValue: 1)
    /// What the next save does with it.
    static let inserted = Self(rawValue: 1 << 1)
    static let updated = Self(rawValue: 1 << 2)
    static let deleted = Self(rawValue: 1 << 3)
    /// A fault: `awakeFromFetch` is still to come. With a row, firing needs no statement.
    @usableFromInline static let fault = Self(rawValue: 1 << 4)
    /// The row is an `OwnRow`; otherwise it is in a batch.
    @usableFromInline static let ownRow = Self(rawValue: 1 << 5)
    /// The own row is shared, with the row cache or another context: copy before writing.
    static let sharedRow = Self(rawValue: 1 << 6)
    /// The owner is an `ObjectExtras`, which holds the row's owner.
    @usableFromInline static let extras = Self(rawValue: 1 << 7)
    /// No values yet; only together with `fault`.
    static let rowless = Self(rawValue: 1 << 8)
    /// In the tracker's list of objects with changes.
    static let listed = Self(rawValue: 1 << 9)
    /// In the tracker's list of the current event.
    static let touched = Self(rawValue: 1 << 10)
    /// In no context: never inserted, or its context is done with it.
    static let detached = Self(rawValue: 1 << 11)
    /// Values are being put in: nothing is tracked.
    static let loading = Self(rawValue: 1 << 12)
    /// Its delete has been propagated along its relationships.
    static let propagated = Self(rawValue: 1 << 13)
    /// The store had no row for it when it fired.
    static let inaccessible = Self(rawValue: 1 << 14)
    /// `detectConflicts(for:)`: takes part in optimistic locking though unchanged.
    static let locked = Self(rawValue: 1 << 15)
    /// The own row, though shared, holds unsaved values: its base is what they are measured against. Only together with `sharedRow`.
    static let unsavedRow = Self(rawValue: 1 << 16)

    /// The tracker knows that the object changes in this event: a write need not say so. Only together with `touched`.
    static let noted = Self(rawValue: 1 << 17)
    /// Inserted in the current event, and deleted in it.
    static let insertedNow = Self(rawValue: 1 << 18)
    static let deletedNow = Self(rawValue: 1 << 19)
    /// Its row was deleted by others: no store refers to it any more. Only together with `deleted`.
    static let rowGone = Self(rawValue: 1 << 20)
    /// Its delete was decided on in this context, before its row turned out to be missing. Only together with `rowGone`.
    static let deletedByDecision = Self(rawValue: 1 << 24)
    /// Others have saved it, or its delete, while its delete was pending: if that is taken back, it is read again. Only together with `deleted`.
    static let savedMeanwhile = Self(rawValue: 1 << 26)
    /// Was read as, or became, a member of a many-to-many relationship, from the other end.
    static let readAsMember = Self(rawValue: 1 << 25)
    /// A child context has saved the very row, so it was validated. Only together with `sharedRow`.
    static let validated = Self(rawValue: 1 << 21)
    /// A save was refused because others have changed its row: its changes stay measured against the row that they were made on, until it is
    /// refreshed.
    static let outdated = Self(rawValue: 1 << 22)
    /// In the tracker's list of those whose values were replaced from the store in the current event.
    static let refreshedNow = Self(rawValue: 1 << 23)
    /// Was never saved, and has another row than the first that a context below has got of it.
    static let amended = Self(rawValue: 1 << 28)
    /// Has left its context because the save that brought it was refused: nobody here has decided that. Only together with `detached`.
    static let returned = Self(rawValue: 1 << 29)
    /// `prepareForDeletion` is being called.
    static let beingDeleted = Self(rawValue: 1 << 27)

    /// What the save has done with it of which everybody is being told. It has done one thing: both bits stand for a delete.
    static let insertionSaved = Self(rawValue: 1 << 30)
    static let updateSaved = Self(rawValue: 1 << 31)
    static let deletionSaved: Self = [.insertionSaved, .updateSaved]

    /// The next save has something to do.
    static let pending: Self = [.inserted, .updated, .deleted]
    /// What must be looked at before a write goes straight into the row.
    static let writeMask: Self = [.ownRow, .sharedRow, .fault, .noted]
    static let writable: Self = [.ownRow, .noted]
    /// What lasts no longer than an event.
    static let ofEvent: Self = [.touched, .noted, .insertedNow, .deletedNow]
    /// What a save, or giving a change up, ends.
    static let unsaved: Self = [.inserted, .updated, .deleted, .propagated, .rowGone, .deletedByDecision, .savedMeanwhile]

    /// What is known only while everybody is told of a save.
    static let ofSave: Self = .deletionSaved

    /// Whether a store may still refer to a deleted object.
    var hasRow: Bool { isDisjoint(with: .rowGone) && !isSuperset(of: .deletionSaved) }
    /// Whether observers have been told of a delete that could be taken back.
    var isToldAsDeleted: Bool { intersection([.deleted, .deletedNow, .rowGone]) == .deleted }
}
