/// Values that faults hold of which a fetch asked for some properties only: in their rows, the rest of which is to be read.
struct HeldValues {
    let slots: SlotMask
    /// What they count as long as: until something is saved, refreshed or merged.
    let stamp: Stamp

    struct Stamp: Equatable {
        let reading: ReadAhead.Stamp
        let forgets: Int
    }
}

extension NSManagedObjectContext {
    var heldValuesStamp: HeldValues.Stamp { HeldValues.Stamp(reading: readingStamp, forgets: readAhead.forgetCount) }

    /// The stored properties that the objects of a fetch are to hold; nil where their rows are read whole, as in every child.
    ///
    /// - Throws: `CocoaError` 134060 for what is no property of the entity.
    func heldProperties<Result>(_ request: NSFetchRequest<Result>, _ entity: NSEntityDescription) throws -> Set<String>? {
        let properties = try request.heldProperties(entity)
        return parentSource.isStoreSide ? properties : nil
    }
}

extension NSManagedObject {
    /// Fires a fault, but for one that holds what is asked for.
    @usableFromInline @inline(never) final func fire(toRead slot: Int) {
        if !state.contains(.rowless) || !holds(slot) { fire() }
    }

    /// Whether a slot has no value yet.
    final func isUnread(_ slot: Int) -> Bool { state.contains(.rowless) && !holds(slot) }

    /// Whether the object is a fault that has a property's value nevertheless.
    final func holds(_ property: EntityShape.Property) -> Bool {
        switch property {
        case .attribute(let slot, _), .toOne(let slot, _): holds(slot)
        default: false
        }
    }

    private func holds(_ slot: Int) -> Bool {
        guard let held = unreadRows?.held, held.slots.contains(slot) else { return false }
        return registeredContext?.heldValuesStamp == held.stamp
    }
}

extension NSFetchRequest {
    fileprivate func heldProperties(_ entity: NSEntityDescription) throws -> Set<String>? {
        guard let asked = propertiesToFetch, resultType == .managedObjectResultType else { return nil }
        let names = try asked.map { try Self.heldProperty($0, entity) }
        let isWhole = !returnsObjectsAsFaults || shouldRefreshRefetchedObjects || relationshipKeyPathsForPrefetching?.isEmpty == false
        return isWhole ? nil : Set(names)
    }

    private static func heldProperty(_ property: Any, _ entity: NSEntityDescription) throws -> String {
        let name = (property as? NSPropertyDescription)?.name ?? (property as? any NamedKey)?.name ?? (property as? String)
        guard !(property is NSExpressionDescription), let name, entity.propertiesByName[name] != nil else {
            throw CocoaError.coreData(
                .coreData,
                """
                A fetch of objects of \(entity.name ?? "?") is refused: propertiesToFetch has \(name.map { "“\($0)”" } ?? "a \(type(of: property))"), \
                which is none of its properties. Expressions and key paths need the resultType .dictionaryResultType.
                """
            )
        }
        return name
    }
}

extension NSManagedObject {
    /// Takes a row of some values, unless the object has one, or changes.
    final func hold(_ row: Row) { if state.contains(.rowless) { beUnread(row) } }

    /// A fault without changes forgets what was read for it: what it has in the row, if anything, counts until all of it is read.
    final func beUnread(_ row: Row) {
        guard isFault, state.isDisjoint(with: .pending) else { return }
        setRow(row)
        state.formUnion([.fault, .rowless])
        state.remove(.sharedRow)
    }
}

extension UnreadRows {
    convenience init(_ run: RowRun, held: HeldValues) {
        let references = run.range.map {
            RowReference(key: EntityLayout.key(run.batch.row($0)), entity: Int32(run.entity.index), store: run.store)
        }
        self.init(references[...], PrefetchPaths(), held: held)
    }
}
