import Foundation
import Testing

@testable import CoreData

/// Changes a graph with relationships of every kind, by chance, in two contexts on one store: both on the coordinator, or two children of a context
/// that is a child itself and may be changed as well, or on two coordinators, as of two processes, one of them with a child maybe.
final class GraphWalk {
    enum Layout: CaseIterable {
        case siblings, layers, parentToo, coordinators, coordinatorsAndLayers

        var isApart: Bool { self == .coordinators || self == .coordinatorsAndLayers }
    }
    enum Merging: CaseIterable { case atOnce, never }

    struct Failure: Error, CustomStringConvertible { let description: String }

    static let labels = ["Person": "name", "Author": "name", "Book": "title", "Chapter": "heading", "Tag": "label", "Desk": "room"]

    let home: ContractHome
    /// Those that are changed.
    let contexts: [NSManagedObjectContext]
    let merging: Merging
    /// A batch request may be in conflict with what the contexts have changed.
    private let allowsBatches: Bool
    /// Of the coordinators, by which they hear of each other; empty where they are told what the other context says it has saved.
    private(set) var followers: [HistoryFollower] = []
    var random: SeededGenerator
    private var trail: [String] = []
    var last = 0
    /// Some objects are held, the others may be forgotten as soon as they have no changes.
    private var held: [NSManagedObject] = []

    init(_ kind: ContractKind, _ layout: Layout, _ merging: Merging, _ policy: NSMergePolicy, seed: UInt64) throws {
        home = try ContractHome(kind, model: Self.model())
        self.merging = merging
        allowsBatches = kind.capabilities.contains(.batch) && policy !== NSMergePolicy.error
        random = SeededGenerator(seed)
        let coordinator = try Self.coordinator(home)
        let root = home.context(on: coordinator)
        let main = Layers.child(of: root, "main")
        let coordinators = [coordinator, layout.isApart ? try Self.coordinator(home) : coordinator]
        let pair = coordinators.enumerated().map { [home] number, coordinator in
            switch layout {
            case .layers, .parentToo: Layers.child(of: main, "worker \(number)")
            case .coordinatorsAndLayers where number == 0: Layers.child(of: root, "worker")
            default: home.context(on: coordinator)
            }
        }
        contexts = pair + (layout == .parentToo ? [main] : layout == .coordinatorsAndLayers ? [root] : [])
        for context in contexts + [main, root] { context.mergePolicy = policy }
        guard layout.isApart, layout == .coordinatorsAndLayers || seed.isMultiple(of: 2) else { return }
        for (number, context) in pair.enumerated() {
            (above(context).last ?? context).transactionAuthor = "\(number)"
            followers.append(HistoryFollower(name: "\(number)", coordinator: coordinators[number]))
        }
    }

    /// Whoever is deleted takes nobody along without whom the others are not whole.
    private static func model() -> NSManagedObjectModel {
        let model = LibraryModel.make()
        model.entitiesByName["Desk"]?.relationshipsByName["owner"]?.deleteRule = .nullifyDeleteRule
        model.entitiesByName["Chapter"]?.relationshipsByName["book"]?.isOptional = true
        return model
    }

    static func coordinator(_ home: ContractHome) throws -> NSPersistentStoreCoordinator {
        try home.coordinator(options: home.kind.capabilities.contains(.sql) ? [NSPersistentHistoryTrackingKey: true] : nil)
    }

    /// The contexts through which a context saves into the file.
    func above(_ context: NSManagedObjectContext) -> [NSManagedObjectContext] {
        Array(sequence(first: context, next: \.parent).dropFirst())
    }

    func run(_ count: Int) throws {
        for _ in 0..<count {
            try step()
            for context in contexts where hasBothEnds(context) { try checkEnds(context) }
        }
        for context in contexts {
            try save(context)
            for context in contexts { try readAnew(context) }
        }
        let file = try picture(reader())
        for context in contexts { try expect(try picture(context), file, "at the end") }
    }

    /// Whether a context knows all that others have changed, and so cannot have half of it.
    private func hasBothEnds(_ context: NSManagedObjectContext) -> Bool {
        if followers.isEmpty, contexts.contains(where: { $0.parent === context }) { return true }
        return merging == .atOnce && contexts.allSatisfy { context.parent !== $0 }
    }

    func fail(_ text: String) -> Failure { Failure(description: "\(text)\nafter \(trail.suffix(60).joined(separator: "\n"))") }

    func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }

    func number(_ context: NSManagedObjectContext) -> Int { contexts.firstIndex { $0 === context } ?? -1 }

    func note(_ text: String, _ context: NSManagedObjectContext) { trail.append("\(number(context)): \(text)") }

    private func step() throws {
        let context = contexts[Int.random(in: 0..<contexts.count, using: &random)]
        switch Int.random(in: 0..<26, using: &random) {
        case 0...4: insert(context)
        case 5...8: try setToOne(context)
        case 9...14: try editMembers(context)
        case 15...16: try delete(context)
        case 17: try refresh(context)
        case 18 where chance(3):
            note("rollback", context)
            context.rollback()
            // Nobody tells them of what they have read and is given up.
            for child in contexts where child.parent === context { child.refreshAllObjects() }
        case 19: context.processPendingChanges()
        case 20: held.removeAll { _ in chance(2) }
        case 21 where chance(2) && allowsBatches: try batch(context)
        case 22 where chance(2) && context.parent != nil: try saveIntoParent(context)
        case 23: try expect(try picture(context), try picture(context), "asked twice")
        default: try save(context)
        }
    }

    private func insert(_ context: NSManagedObjectContext) {
        last += 1
        let names = Self.labels.keys.sorted()
        let name = names[Int.random(in: 0..<names.count, using: &random)]
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        object.setValue("\(name) \(last)", forKey: Self.labels[name] ?? "")
        note("insert \(name) \(last)", context)
        if chance(2) { held.append(object) }
    }

    func objects(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).sorted { Self.label($0) < Self.label($1) }
    }

    static func label(_ object: NSManagedObject) -> String {
        object.value(forKey: labels[object.entity.name ?? ""] ?? "") as? String ?? "?"
    }

    func any(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let object = try objects(entity, context).randomElement(using: &random)
        if let object, chance(3) { held.append(object) }
        return object
    }

    static let roots = ["Person", "Book", "Chapter", "Tag", "Desk"]

    /// An object, one of its relationships, and somebody whom that may lead to.
    private func ends(toMany: Bool, _ context: NSManagedObjectContext) throws
        -> (owner: NSManagedObject, along: NSRelationshipDescription, end: NSManagedObject?)?
    {
        guard let root = Self.roots.randomElement(using: &random), let owner = try any(root, context) else { return nil }
        let relationships = owner.entity.relationshipsByName.values.filter { $0.isToMany == toMany }.sorted { $0.name < $1.name }
        guard let relationship = relationships.randomElement(using: &random) else { return nil }
        return (owner, relationship, try any(relationship.destinationEntity?.name ?? "", context))
    }

    private func setToOne(_ context: NSManagedObjectContext) throws {
        guard let (owner, relationship, end) = try ends(toMany: false, context) else { return }
        let target = chance(4) ? nil : end
        note("\(Self.label(owner)).\(relationship.name) = \(target.map(Self.label) ?? "nil")", context)
        owner.setValue(target, forKey: relationship.name)
    }

    private func editMembers(_ context: NSManagedObjectContext) throws {
        guard let (owner, relationship, end) = try ends(toMany: true, context), let end else { return }
        let how =
            relationship.isOrdered
            ? edit(owner.mutableOrderedSetValue(forKey: relationship.name), end) : edit(owner, relationship.name, end)
        note("\(Self.label(owner)).\(relationship.name) \(how) \(Self.label(end))", context)
    }

    private func edit(_ owner: NSManagedObject, _ key: String, _ end: NSManagedObject) -> String {
        let members = owner.mutableSetValue(forKey: key)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            members.remove(end)
            return "-"
        case 1:
            owner.setValue(Set([end]), forKey: key)
            return "="
        default:
            members.add(end)
            return "+"
        }
    }

    private func edit(_ members: NSMutableOrderedSet, _ end: NSManagedObject) -> String {
        let place = Int.random(in: 0...members.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            members.remove(end)
            return "-"
        case 1 where members.count > 0:
            members.moveObjects(at: IndexSet(integer: 0), to: members.count - 1)
            return "first to the end, not"
        case 2:
            members.insert(end, at: place)
            return "+ at \(place)"
        default:
            members.add(end)
            return "+"
        }
    }

    private func delete(_ context: NSManagedObjectContext) throws {
        guard let root = Self.roots.randomElement(using: &random), let object = try any(root, context) else { return }
        note("delete \(Self.label(object))", context)
        context.delete(object)
    }

    private func refresh(_ context: NSManagedObjectContext) throws {
        guard let root = Self.roots.randomElement(using: &random), let object = try any(root, context) else { return }
        note("refresh \(Self.label(object))", context)
        context.refresh(object, mergeChanges: true)
    }
}
