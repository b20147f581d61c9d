import Foundation

@testable import CoreData

/// Two coordinators on one file, with contexts on each and children of these, and two strangers: one with a file of its own whose keys are
/// the same numbers, one with another model too. Every step is done to plain values alike.
final class FileWalk {
    let home: StoreHome
    let url: URL
    let reader: WalkFileReader
    var coordinators: [NSPersistentStoreCoordinator]
    var contexts: [WalkedContext] = []
    let strangers: WalkStrangers?
    let groups: Set<WalkStep.Group>
    /// What the file has, as it was read after the last save.
    var truth = WalkFile()
    var keys: [WalkKey: Int] = [:]
    /// The IDs that an object had, oldest first.
    var ids: [Int: [NSManagedObjectID]] = [:]
    /// What held IDs said when they were got.
    var sayings: [(id: NSManagedObjectID, uri: URL, isTemporary: Bool)] = []
    var news: [WalkNews] = []

    init(_ kind: StoreKind, _ groups: Set<WalkStep.Group>) throws {
        home = try StoreHome(kind)
        url = home.url()
        self.groups = groups
        coordinators = try [Self.coordinator(kind, url), Self.coordinator(kind, url)]
        reader = try WalkFileReader(url)
        strangers = groups.contains(.strangers) ? try WalkStrangers(home) : nil
        for (side, coordinator) in coordinators.enumerated() {
            let first = WalkedContext("\(side)a", side: side, on: coordinator)
            contexts += [first, WalkedContext("\(side)b", side: side, on: coordinator)]
            if groups.contains(.children) { contexts.append(WalkedContext("\(side)c", childOf: first)) }
        }
        for context in contexts {
            context.observe { [unowned self] object in
                // One that just came from a child may have got a key that nobody knows yet.
                self.serial(of: object) ?? (object.isInserted ? (object.value(forKey: "serial") as? NSNumber)?.intValue : nil)
            }
        }
    }

    static func coordinator(_ kind: StoreKind, _ url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: WalkModel.make())
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: nil)
        return coordinator
    }

    func step(_ step: WalkStep) throws {
        let walked = contexts[step.context % contexts.count]
        try perform(step, in: walked)
        try observe(walked)
        if walked.child != nil { walked.child?.isStale = true }
        for walked in contexts { noteAgreements(walked) }
        try check(walked)
    }

    private func perform(_ step: WalkStep, in walked: WalkedContext) throws {
        switch step.kind {
        case .insert: insert(step, walked)
        case .number, .text, .sameValue, .note: try setAttribute(step, walked)
        case .toOne: try setToOne(step, walked)
        case .addMember, .removeMember: try editMembers(step, walked)
        case .reorder: try reorder(step, walked)
        case .delete: try delete(step, walked)
        case .process: walked.context.processPendingChanges()
        case .fetch: try fetch(step, walked)
        case .release: walked.held = walked.held.filter { $0.key % 3 == step.a % 3 }
        case .save: try save(step, walked)
        case .rollback: rollback(walked)
        case .reset: try reset(walked)
        case .refreshMerging, .refreshDropping, .refreshAll, .refreshDeleted, .refreshInserted: try refresh(step, walked)
        case .merge, .mergeTwice, .mergeURIs, .mergeAll: try merge(step, walked)
        case .obtainIDs: try obtainIDs(step, walked)
        case .lookUp: try lookUp(step, walked)
        case .find: try find(step, walked)
        case .strangerLookUp, .strangerFind, .strangerDelete, .strangerMerge: try strangers?.perform(step, walked, self)
        case .addStoreAgain: try addStoreAgain(walked)
        case .checkEverything: try checkEverything()
        }
    }

    func fail(_ text: String, _ walked: WalkedContext? = nil) -> WalkFailure {
        WalkFailure((walked.map { "in context \($0.name): " } ?? "") + text)
    }
}

extension FileWalk {
    /// Which object it is; nil for a stranger's.
    func serial(of object: NSManagedObject) -> Int? {
        guard object.objectID.isTemporaryID || object.objectID.persistentStore.map({ isOurs($0) }) ?? true else { return nil }
        return kind(of: object).flatMap { keys[WalkKey(root: $0.root, key: object.key)] }
    }

    private func isOurs(_ store: NSPersistentStore) -> Bool { store.url == url }

    func kind(of object: NSManagedObject) -> WalkModel.Kind? { object.entity.name.flatMap(WalkModel.Kind.init) }

    func serials(_ objects: some Sequence<NSManagedObject>, _ walked: WalkedContext) throws -> Set<Int> {
        var serials: Set<Int> = []
        for object in objects where !walked.strangers.contains(where: { $0 === object }) {
            guard let serial = serial(of: object) else { throw fail("an object that nobody made: \(object)", walked) }
            if !serials.insert(serial).inserted { throw fail("two objects are \(serial)", walked) }
        }
        return serials
    }

    func note(_ object: NSManagedObject, _ serial: Int) {
        guard let kind = kind(of: object) else { return }
        keys[WalkKey(root: kind.root, key: object.key)] = serial
        let id = object.objectID
        if ids[serial]?.contains(where: { $0 === id }) == true { return }
        ids[serial, default: []].append(id)
        if groups.contains(.ids) { sayings.append((id, id.uriRepresentation(), id.isTemporaryID)) }
    }

    /// The objects that a context can see.
    func visible(_ walked: WalkedContext) -> [Int: WalkModel.Kind] {
        var visible = truth.kinds
        for layer in walked.chain {
            visible.merge(layer.inserted) { $1 }
            for serial in layer.deleted { visible[serial] = nil }
        }
        return visible
    }

    func chosen(_ walked: WalkedContext, _ number: Int, _ kinds: Set<WalkModel.Kind> = Set(WalkModel.Kind.allCases)) -> Int? {
        visible(walked).filter { kinds.contains($0.value) }.keys.chosen(by: number)
    }

    /// An object by one of the IDs that it had, or as the walk holds it; nil where it turns out to be gone.
    func object(_ serial: Int, _ walked: WalkedContext, _ step: WalkStep) throws -> NSManagedObject? {
        if let object = walked.held[serial], object.managedObjectContext === walked.context { return object.isDeleted ? nil : object }
        guard let known = ids[serial], let first = known.first, let last = known.last else { throw fail("nobody has an ID of \(serial)") }
        let object = walked.context.object(with: step.c % 2 == 0 ? first : last)
        if object.managedObjectContext !== walked.context { throw fail("the object of \(first) is in no context", walked) }
        if step.c % 3 > 0 { walked.held[serial] = object }
        return object.isDeleted ? nil : object
    }

    /// The kinds that a relationship to `kind` takes.
    func kinds(_ root: WalkModel.Kind) -> Set<WalkModel.Kind> { Set(WalkModel.Kind.allCases.filter { $0.root == root }) }

    /// What an object says of a cell. `links` are only looked at where they were read.
    func value(_ object: NSManagedObject, _ cell: WalkCell) throws -> WalkValue {
        switch cell.key {
        case "number": (object.value(forKey: "number") as? NSNumber).map { .number($0.intValue) } ?? .empty
        case "text": (object.value(forKey: "text") as? String).map(WalkValue.text) ?? .empty
        case "labels":
            (object.value(forKey: "labels") as? Set<NSManagedObject> ?? []).contains { serial(of: $0) == cell.other } ? .link : .empty
        default:
            try (object.value(forKey: cell.key) as? NSManagedObject).map {
                guard let target = serial(of: $0) else { throw WalkFailure("\(cell) refers to \($0), which nobody made") }
                return .reference(target)
            } ?? .empty
        }
    }
}
