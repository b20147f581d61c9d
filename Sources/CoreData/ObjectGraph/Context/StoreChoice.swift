import Foundation

/// Which stores new objects go to that nobody has assigned, where several would take them: to that of what they are related to, since no
/// relationship leads from one store to another. What is related to nothing saved goes to the first, as one that has no choice.
struct StoreChoice {
    private let context: NSManagedObjectContext
    private let stores: [any RowStore]
    private var undecided: [ObjectIdentifier: NSManagedObject] = [:]
    /// Undecided objects that are related to each other.
    private var relatives: [ObjectIdentifier: [NSManagedObject]] = [:]
    private var found: [(object: NSManagedObject, store: Int32)] = []

    /// Nil where there is no choice: the coordinator has one store.
    init?(_ context: NSManagedObjectContext) {
        guard let all = context.persistentStoreCoordinator?.allStores, all.count > 1 else { return nil }
        self.context = context
        stores = all.filter { !$0.isReadOnly }
    }

    mutating func run() {
        let objects = context.tracker.objects.filter { !$0.state.isDisjoint(with: [.inserted, .updated]) && !$0.state.contains(.deleted) }
        noteUndecided(objects)
        guard !undecided.isEmpty else { return }
        for object in objects where !object.state.contains(.rowless) { noteRelatives(of: object) }
        assign()
    }

    private mutating func noteUndecided(_ objects: [NSManagedObject]) {
        var latest: (scope: ObjectIdentifier, hasChoice: Bool)?
        for object in objects where object.state.contains(.inserted) && object.scope.store == 0 {
            let scope = object.scope
            if latest?.scope != ObjectIdentifier(scope) {
                latest = (ObjectIdentifier(scope), !scope.isForeign && stores.count { $0.holds(scope.entity) } > 1)
            }
            if latest?.hasChoice == true { undecided[ObjectIdentifier(object)] = object }
        }
    }

    private mutating func noteRelatives(of object: NSManagedObject) {
        for slot in object.scope.shape.layout.referenceSlots {
            guard let reference = object.currentRow.reference(slot) else { continue }
            if let target = context.registeredObject(for: reference) {
                note(object, target)
            } else if reference.key > 0, isUndecided(object) {
                found.append((object, reference.store))
            }
        }
        object.existingExtras?.forEachToMany { contents in
            for member in (contents.ownerIsNew ? contents.members : contents.added)?.array ?? [] { note(object, member) }
        }
    }

    private func isUndecided(_ object: NSManagedObject) -> Bool { undecided[ObjectIdentifier(object)] != nil }

    private mutating func note(_ one: NSManagedObject, _ other: NSManagedObject) {
        switch (isUndecided(one), isUndecided(other)) {
        case (true, true):
            relatives[ObjectIdentifier(one), default: []].append(other)
            relatives[ObjectIdentifier(other), default: []].append(one)
        case (true, false): if other.scope.store != 0 { found.append((one, other.scope.store)) }
        case (false, true): if one.scope.store != 0 { found.append((other, one.scope.store)) }
        case (false, false): break
        }
    }

    /// From object to object, as far as the stores take them.
    private mutating func assign() {
        var next = 0
        while next < found.count {
            let (object, number) = found[next]
            next += 1
            guard isUndecided(object), stores.contains(where: { $0.number == number && $0.holds(object.scope.entity) }) else { continue }
            undecided[ObjectIdentifier(object)] = nil
            context.rename(object, store: number, key: object.key)
            found += (relatives[ObjectIdentifier(object)] ?? []).map { ($0, number) }
        }
    }
}

extension NSManagedObjectContext {
    /// Chooses the stores of new objects that nobody has assigned.
    func chooseStores() {
        guard var choice = StoreChoice(self) else { return }
        choice.run()
    }
}
