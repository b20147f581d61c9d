/// Saves what children have saved into a context save by save, after all at once has failed because of data in some of them.
///
/// Each of them is one transaction, in the order in which they came, so that of two that exclude each other the first stays. What a store
/// refuses for the data's sake is taken out; once the world is in the way, all that is left waits in the context as before. What the context
/// has changed itself comes last. A save is received at most three times, however many there are, so that the time grows with the changes.
/// Children are not let in meanwhile: the context has less than they have saved.
struct SeparateSave {
    /// What came of it.
    struct Result {
        var returned: [ReturnedSave] = []
        /// Why the context's own changes are still unsaved.
        var ownFailure: (any Error)?
        /// What the world refused.
        var failure: (any Error)?
    }

    /// Saves that go together, because one refers to what another has inserted.
    private struct Bundle {
        var parts: [ChildSave.Part]
        var isAlone = false
    }

    private static let bundlesAtOnce = 64

    private let context: NSManagedObjectContext
    private var result = Result()
    private var bundles: ContiguousArray<Bundle> = []
    private var next = 0
    private var own: [ChangeSet] = []
    /// What the context has inserted itself, and the saves that refer to that: they come after it.
    private var ownInsertions: Set<RowReference> = []
    private var afterOwn: [ChildSave.Part] = []
    /// New objects that were withdrawn: they come back as they are, or go with the save that has brought them.
    private var withdrawn: [NSManagedObject] = []
    /// Saved objects whose changes were taken out, and neither came back nor were saved; and those of them that were told as deleted.
    private var givenUp: Set<NSManagedObject> = []
    private var toldAsDeleted: Set<NSManagedObject> = []
    private var gone = GoneObjects()
    /// What deletes have reached in the contexts below.
    private var reached = SavedReferences()

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// - Parameter error: why saving all at once has failed.
    mutating func run(after error: any Error) -> Result {
        do {
            try context.takeIncoming()
            collect(hasOwn: true)
            if bundles.count == 1, own.isEmpty {
                giveBack(bundles[0], error)
                next = 1
            }
            // Those would be the very attempt that has failed.
            if own.isEmpty, bundles.count <= Self.bundlesAtOnce { for index in bundles.indices { bundles[index].isAlone = true } }
            while next < bundles.count { try saveNext() }
            try saveOwn()
            while next < bundles.count { try saveNext() }
            // What observers have changed since the context's own changes were saved.
            if !own.isEmpty { receiveOwn() }
        } catch {
            keepRest()
            result.failure = error
        }
        context.tracker.preparedForDeletion = []
        dismissGone()
        return result
    }
}

extension SeparateSave {
    /// Takes what waits in the context out of it, part by part.
    private mutating func collect(hasOwn: Bool) {
        var parts = context.children.withLock { $0.saves.takeAll() }.flatMap { $0.divided(in: context) }
        var rest = hasOwn && context.hasChanges ? context.changes(beyond: parts.map(\.changes)) : ChangeSet()
        let lost = DeleteConsequences.objectsWithoutRow(in: context)
        for object in context.tracker.objects(.deleted) { context.tracker.preparedForDeletion.insert(object.rowReference.identity) }
        withdraw()
        removeConsequences(from: &rest, &parts, lost)
        if !rest.changesNothing { own.append(rest) }
        for reference in rest.insertedReferences { ownInsertions.insert(context.forwarded(reference).identity) }
        let independent = parts.filter { !isAfterOwn($0) }
        bundles += bundled(independent)
    }

    /// What deletes have done to others' changes is nobody's own change.
    private mutating func removeConsequences(from own: inout ChangeSet, _ parts: inout [ChildSave.Part], _ lost: [NSManagedObject]) {
        guard !own.changesNothing || parts.contains(where: \.isOfContextBetween) else { return }
        let saves = parts.filter { !$0.isOfContextBetween }.map(\.changes)
        let consequences = DeleteConsequences(of: saves, and: lost, in: context)
        reached = reached.corrected(by: consequences.references)
        own = consequences.removed(from: own)
        parts = parts.compactMap(consequences.removed(from:))
    }

    private mutating func withdraw() {
        let changed = context.tracker.objects.lazy.filter { !$0.state.isDisjoint(with: .pending) && !$0.state.contains(.inserted) }
        givenUp.formUnion(changed)
        toldAsDeleted.formUnion(changed.filter(\.state.isToldAsDeleted))
        withdrawn += context.withdrawChanges()
    }

    /// Whether a save refers to what the context has inserted itself; it is noted then.
    private mutating func isAfterOwn(_ part: ChildSave.Part) -> Bool {
        guard !ownInsertions.isEmpty else { return false }
        var isAfter = false
        part.changes.forEachRequirement { isAfter = isAfter || ownInsertions.contains(context.forwarded($0).identity) }
        guard isAfter else { return false }
        // What it inserts comes after that too, and whatever refers to it.
        for reference in part.changes.insertedReferences { ownInsertions.insert(context.forwarded(reference).identity) }
        afterOwn.append(part)
        return true
    }

    /// Parts that need what a later one inserts go with that one.
    private func bundled(_ parts: [ChildSave.Part]) -> [Bundle] {
        var makers: [RowReference: Int] = [:]
        for (index, part) in parts.enumerated() {
            for reference in part.changes.insertedReferences { makers[context.forwarded(reference).identity] = index }
        }
        var targets = Array(parts.indices)
        for (index, part) in parts.enumerated() {
            part.changes.forEachRequirement { reference in
                if let maker = makers[context.forwarded(reference).identity] { targets[index] = max(targets[index], targets[maker]) }
            }
        }
        if targets.elementsEqual(parts.indices) { return parts.map { Bundle(parts: [$0]) } }
        var bundles = parts.indices.map { _ in Bundle(parts: []) }
        for (index, part) in parts.enumerated() {
            var target = targets[index]
            while targets[target] != target { target = targets[target] }
            bundles[target].parts.append(part)
        }
        return bundles.filter { !$0.parts.isEmpty }
    }
}

extension SeparateSave {
    private mutating func saveNext() throws {
        if let cause = gone.cause(of: bundles[next].parts, in: context) {
            giveBack(bundles[next], cause)
            next += 1
            return
        }
        let end = endOfChunk()
        do {
            try save(next..<end)
            next = end
            collect(hasOwn: true)
        } catch  where SaveFailure.isOfData(error) {
            dropAttempt(next..<end)
            if end - next > 1 {
                for index in next..<end { bundles[index].isAlone = true }
            } else {
                giveBack(bundles[next], error)
                next = end
            }
        }
    }

    /// As many as are tried at once; in the end each is tried alone, or in good company.
    private func endOfChunk() -> Int {
        var end = next + 1
        guard !bundles[next].isAlone else { return end }
        while end < bundles.count, end - next < Self.bundlesAtOnce, !bundles[end].isAlone,
            gone.cause(of: bundles[end].parts, in: context) == nil
        {
            end += 1
        }
        return end
    }

    private mutating func save(_ chunk: Range<Int>) throws {
        for index in chunk { try receive(bundles[index]) }
        try saveReceived()
    }

    private mutating func saveReceived() throws {
        let received = context.tracker.objects
        try context.saveChanges(letsChildrenIn: false)
        givenUp.subtract(received)
    }

    private func receive(_ bundle: Bundle) throws {
        context.children.withLock { $0.saves.waiting += bundle.parts }
        let changes = ChangeSet.joined(bundle.parts.map(changes)).forwarded(context.forwarded)
        context.tellChildren(of: try context.receive(changes))
    }

    /// A save as a whole; of what a context has changed itself, what there still is.
    private func changes(_ part: ChildSave.Part) -> ChangeSet {
        part.save.parts.isEmpty ? part.changes : gone.rest(of: part.changes, in: context)
    }

    /// What came in while the attempt was written is tried later.
    private mutating func dropAttempt(_ attempt: Range<Int>) {
        let tried = Set(bundles[attempt].flatMap(\.parts).map { ObjectIdentifier($0.save) })
        context.children.withLock { $0.saves.waiting.removeAll { $0.isSingle && tried.contains(ObjectIdentifier($0.save)) } }
        collect(hasOwn: false)
    }

    private mutating func giveBack(_ bundle: Bundle, _ cause: any Error) {
        let error = SaveFailure.reported(cause)
        for part in bundle.parts {
            let changes = changes(part)
            part.save.end(.returning(error))
            gone.add(changes, error, in: context)
            if let returned = ReturnedSave(part.save, changes, error, from: context) { result.returned.append(returned) }
        }
    }

    /// What no child has saved; where that fails for the data's sake, it stays, and with it what refers to it.
    private mutating func saveOwn() throws {
        receiveOwn()
        do {
            if context.hasChanges { try saveReceived() }
            (own, ownInsertions) = ([], [])
            collect(hasOwn: true)
            bundles += bundled(afterOwn)
        } catch  where SaveFailure.isOfData(error) {
            result.ownFailure = SaveFailure.reported(error)
            own = []
            keep(afterOwn)
        }
        afterOwn = []
    }

    private func receiveOwn() { context.receiveWhatIsThere(gone.rest(of: ChangeSet.joined(own), in: context)) }

    private mutating func keep(_ parts: [ChildSave.Part]) {
        for bundle in bundled(parts) {
            if let cause = gone.cause(of: bundle.parts, in: context) {
                giveBack(bundle, cause)
                continue
            }
            do { try receive(bundle) } catch { giveBack(bundle, error) }
        }
    }

    /// All that is left waits in the context, as if nothing had been tried.
    private mutating func keepRest() {
        collect(hasOwn: false)
        // An attempt that the world stopped is among what was collected.
        let left = bundles[next...].flatMap(\.parts)
        var met: Set<ObjectIdentifier> = []
        let parts = left.filter { met.insert(ObjectIdentifier($0.save)).inserted }
        receiveOwn()
        keep(parts + afterOwn)
    }

    /// New objects whose save has gone back leave the context; who observes hears of the others that they are as they were.
    private func dismissGone() {
        context.leave(withdrawn.filter { $0.state.isDisjoint(with: .pending) && gone.contains($0.rowReference, in: context) })
        for object in givenUp where object.registeredContext === context && !object.state.contains(.deleted) { tell(ofGivenUp: object) }
        context.processPendingChanges()
        context.dismissLost(result.returned.flatMap(\.changes.updatedReferences))
        context.tellChildren(of: reached)
    }

    private func tell(ofGivenUp object: NSManagedObject) {
        let isUnchanged = object.state.isDisjoint(with: .pending)
        if object.state.contains(.savedMeanwhile) {
            object.state.remove(.savedMeanwhile)
            context.refresh(object, mergeChanges: !isUnchanged)
        }
        // Whoever looked during an attempt found it without what is there again.
        object.existingExtras?.forgetStoredMembers()
        if toldAsDeleted.contains(object) {
            context.tracker.noteArrival(of: object)
        } else if isUnchanged {
            context.tracker.noteRefresh(of: object)
        }
    }
}
