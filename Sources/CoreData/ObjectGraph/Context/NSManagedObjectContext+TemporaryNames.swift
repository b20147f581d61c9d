/// What the context may still name by temporary keys, so that everything else need not be forwarded for ever.
extension NSManagedObjectContext {
    private var names: TemporaryNames { identityMap.forwardingTable.names }

    /// Runs what meets references that no object of this context has yet.
    func whileMeetingNames<Result>(_ body: () throws -> Result) rethrows -> Result {
        parent == nil && !isFollowed ? try body() : try names.travelling(body)
    }

    /// The context hears of an object that it had not heard of.
    func noteName(_ key: Int64) { names.add(key...key, to: identityMap.names) }

    /// Another context of the tree hears of what this one knows.
    func passNames(to other: NSManagedObjectContext) { names.pass(from: identityMap.names, to: other.identityMap.names) }

    /// Says anew what is named here, if that is asked for: by objects, and by their rows.
    ///
    /// - Complexity: O(n), n the number of registered objects; done once whenever the tree's table has doubled.
    func renewNames() {
        guard parent != nil, !isSaving, names.isDue(identityMap.names), !keepsChanges else { return }
        names.renew(identityMap.names, KeyRanges(namedKeys, and: identityMap.temporaryKeysLeft))
    }

    /// Whether changes of children are kept here, which name what they name.
    private var keepsChanges: Bool { incoming != nil || children.withLock { !$0.saves.isEmpty } }

    private var namedKeys: [Int64] {
        var keys: [Int64] = []
        for object in registry.objects {
            if object.key < 0 { keys.append(object.key) }
            let slots = object.scope.shape.layout.referenceSlots
            if slots.isEmpty || object.state.contains(.rowless) { continue }
            note(object.currentRow, slots, &keys)
            // NB: never the base of a row that was saved, which is another context's to change.
            if let committed = object.committedRow { note(committed, slots, &keys) }
        }
        return keys
    }

    private func note(_ row: Row, _ slots: UnsafeBufferPointer<Int>, _ keys: inout [Int64]) {
        for slot in slots { if let key = row.reference(slot)?.key, key < 0 { keys.append(key) } }
    }

    /// The save of a topmost context is over: its rows name permanent keys, and so does it. What no context names is forwarded no longer.
    func dropForwardings() {
        guard parent == nil else { return }
        if !isFollowed { return identityMap.forwardingTable.removeAll() }
        if !keepsChanges { names.renew(identityMap.names, KeyRanges([], and: identityMap.temporaryKeysLeft)) }
        identityMap.forwardingTable.removeUnnamed()
    }

    /// What a save has changed, by the keys that the objects have since.
    func forwarded(_ saved: SavedReferences) -> SavedReferences {
        var saved = saved
        saved.updated = saved.updated.map(forwarded)
        saved.replaced = saved.replaced.map { .init(lost: $0.lost, survivor: forwarded($0.survivor)) }
        return saved
    }
}

extension KeyRanges {
    fileprivate init(_ keys: [Int64], and range: ClosedRange<Int64>?) {
        self.init(keys)
        if let range { insert(range) }
    }
}
