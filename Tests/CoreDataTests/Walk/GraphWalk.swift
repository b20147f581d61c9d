import Foundation
import Testing

@testable import CoreData

/// Changes a graph with relationships of every kind, by chance, in two contexts on one store: both on the coordinator, or two children of a context
/// that is a child itself.
final class GraphWalk {
    enum Layout: CaseIterable { case siblings, layers }
    enum Merging: CaseIterable { case atOnce, never }

    struct Failure: Error, CustomStringConvertible { let description: String }

    private static let labels = ["Person": "name", "Author": "name", "Book": "title", "Chapter": "heading", "Tag": "label", "Desk": "room"]

    private let library: Library
    private let above: [NSManagedObjectContext]
    private let contexts: [NSManagedObjectContext]
    private let merging: Merging
    private var random: SeededGenerator
    private var trail: [String] = []
    private var last = 0
    /// Some objects are held, the others may be forgotten as soon as they have no changes.
    private var held: [NSManagedObject] = []

    init(_ kind: StoreKind, _ layout: Layout, _ merging: Merging, _ policy: NSMergePolicy, seed: UInt64) throws {
        library = try Library(kind) { model in
            model.entitiesByName["Desk"]?.relationshipsByName["owner"]?.deleteRule = .nullifyDeleteRule
            model.entitiesByName["Chapter"]?.relationshipsByName["book"]?.isOptional = true
        }
        self.merging = merging
        random = SeededGenerator(seed)
        let root = library.context
        let main = Layers.child(of: root, "main")
        above = layout == .layers ? [main, root] : []
        contexts = (0..<2).map { [library] number in
            layout == .layers ? Layers.child(of: main, "worker \(number)") : library.newContext()
        }
        for context in contexts + above { context.mergePolicy = policy }
    }

    func run(_ count: Int) throws {
        for _ in 0..<count {
            try step()
            if merging == .atOnce { for context in contexts { try checkEnds(context) } }
        }
        for context in contexts {
            try save(context)
            for context in contexts { context.refreshAllObjects() }
        }
        let file = try picture(reader())
        for context in contexts { try expect(try picture(context), file, "at the end") }
    }

    private func fail(_ text: String) -> Failure { Failure(description: "\(text)\nafter \(trail.suffix(60).joined(separator: "\n"))") }

    private func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }

    private func number(_ context: NSManagedObjectContext) -> Int { contexts.firstIndex { $0 === context } ?? -1 }

    private func note(_ text: String, _ context: NSManagedObjectContext) { trail.append("\(number(context)): \(text)") }

    // MARK: Steps

    private func step() throws {
        let context = contexts[Int.random(in: 0..<contexts.count, using: &random)]
        switch Int.random(in: 0..<24, using: &random) {
        case 0...4: insert(context)
        case 5...8: try setToOne(context)
        case 9...14: try editMembers(context)
        case 15...16: try delete(context)
        case 17: try refresh(context)
        case 18 where chance(3):
            note("rollback", context)
            context.rollback()
        case 19: context.processPendingChanges()
        case 20: held.removeAll { _ in chance(2) }
        case 21: try expect(try picture(context), try picture(context), "asked twice")
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

    private func objects(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).sorted { Self.label($0) < Self.label($1) }
    }

    private static func label(_ object: NSManagedObject) -> String {
        object.value(forKey: labels[object.entity.name ?? ""] ?? "") as? String ?? "?"
    }

    private func any(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let object = try objects(entity, context).randomElement(using: &random)
        if let object, chance(3) { held.append(object) }
        return object
    }

    private static let roots = ["Person", "Book", "Chapter", "Tag", "Desk"]

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

    /// Saves to the file, and tells the other context, where it is to hear of it.
    private func save(_ context: NSManagedObjectContext) throws {
        note("save", context)
        let others = contexts.filter { $0 !== context }
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave,
            object: above.first ?? context,
            queue: nil
        ) { [merging] notification in
            guard merging == .atOnce else { return }
            for other in others { other.mergeChanges(fromContextDidSave: notification) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        do {
            for context in [context] + above { try context.save() }
        } catch {
            throw fail("the save failed: \(error)")
        }
        let problems = library.kind == .file ? try StoreInspector(url: library.url).problems(with: library.model) : []
        if !problems.isEmpty { throw fail("the file is wrong: \(problems)") }
        if merging == .never { context.refreshAllObjects() }
        try expect(try picture(context), try picture(reader()), "after a save")
    }

    // MARK: Checks

    private func reader() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.model)
        try coordinator.addPersistentStore(ofType: library.kind.type, configurationName: nil, at: library.url)
        return Library.context(on: coordinator)
    }

    /// Each object with the ends of its relationships.
    private func picture(_ context: NSManagedObjectContext) throws -> [String] {
        try Self.roots.flatMap { try objects($0, context) }.flatMap { object in
            object.entity.relationshipsByName.values.sorted { $0.name < $1.name }.map { relationship in
                let ends = Self.ends(object, relationship).map(Self.label)
                let inOrder = relationship.isOrdered ? ends : ends.sorted()
                return "\(Self.label(object)).\(relationship.name): \(inOrder.joined(separator: ", "))"
            }
        }
    }

    private static func ends(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        switch object.value(forKey: relationship.name) {
        case let end as NSManagedObject: [end]
        case let ends as NSOrderedSet: ends.array.compactMap { $0 as? NSManagedObject }
        case let ends as Set<NSManagedObject>: Array(ends)
        default: []
        }
    }

    private func expect(_ left: [String], _ right: [String], _ when: String) throws {
        guard left != right else { return }
        let lines = Set(left).symmetricDifference(right).sorted().map { (Set(left).contains($0) ? "here  " : "there ") + $0 }
        throw fail("\(when):\n\(lines.joined(separator: "\n"))")
    }

    /// Both ends of each relationship say the same, and nobody leads to who is deleted.
    private func checkEnds(_ context: NSManagedObjectContext) throws {
        context.processPendingChanges()
        for object in context.registeredObjects where !object.isDeleted && !object.isFault {
            for relationship in object.entity.relationshipsByName.values {
                guard let inverse = relationship.inverseRelationship else { continue }
                for end in Self.ends(object, relationship) where end.isDeleted || !Self.ends(end, inverse).contains(object) {
                    let what = end.isDeleted ? "is deleted" : "does not lead back"
                    throw fail("\(number(context)): \(Self.label(object)).\(relationship.name) is \(Self.label(end)), which \(what)")
                }
            }
        }
    }
}
