import Foundation
import Testing

@testable import CoreData

@Suite("The order of a many-to-many relationship that a worker changes")
struct OrderedPairsTests {
    /// The end in which there is no order: the pairs are written from the end whose name comes first.
    enum OtherEnd: String, CaseIterable { case fans, ziblings }

    private let stage: Stage
    private let main: NSManagedObjectContext
    private let worker: NSManagedObjectContext

    private init(_ end: OtherEnd) throws {
        stage = try Stage {
            let node = LibraryModel.entity("Node", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            LibraryModel.relate(node, "friends", toMany: true, .nullifyDeleteRule, node, end.rawValue, toMany: true, .nullifyDeleteRule)
                .isOrdered = true
            return [node]
        }
        main = Layers.child(of: stage.context, "main")
        worker = Layers.child(of: main, "worker")
        for name in "abcd" {
            NSEntityDescription.insertNewObject(forEntityName: "Node", into: stage.context).setValue(String(name), forKey: "name")
        }
        try stage.context.save()
    }

    init() throws { try self.init(.fans) }

    private func node(_ name: Character, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let nodes = try context.all(NSManagedObject.self, "Node", orderedBy: nil)
        return try #require(nodes.first { $0.value(forKey: "name") as? String == String(name) })
    }

    private func list() throws -> NSMutableOrderedSet { try node("a", worker).mutableOrderedSetValue(forKey: "friends") }

    private func order(_ context: NSManagedObjectContext) throws -> String {
        let friends = try node("a", context).value(forKey: "friends") as? NSOrderedSet
        return friends?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.joined() ?? "-"
    }

    /// Saves from the worker to the file, and looks everywhere.
    private func expectEverywhere(_ expected: String, _ steps: String = "") throws {
        for context in [worker, main, stage.context] { try context.save() }
        for context in [worker, main, stage.context, try stage.separateContext()] { #expect(try order(context) == expected, "\(steps)") }
    }

    // * A friend is taken out, and put in again before a new one, of which nobody has read the other end; above, the first is saved meanwhile.
    // => The order is the worker's, in each context and in the file.
    @Test("is kept where a member is taken out and put in again", arguments: OtherEnd.allCases)
    private func returned(end: OtherEnd) throws {
        let walk = try Self(end)
        try walk.list().insert(walk.node("d", walk.worker), at: 0)
        try walk.worker.save()
        try walk.worker.refresh(walk.node("a", walk.worker), mergeChanges: true)
        try walk.main.save()
        try walk.list().remove(walk.node("d", walk.worker))
        try walk.stage.context.save()
        for name in "bd" { try walk.list().insert(walk.node(name, walk.worker), at: 0) }
        try walk.expectEverywhere("db")
    }

    /// How friends are added, of whom two have been changed before, the last first.
    enum Addition: CaseIterable { case toTheOrder, toTheOtherEnd, atOnce }

    // * Friends are added by one end or the other, or all at once; whoever adds them may have read the order, and may be refreshed before the save.
    // => They have the order in which they were added: not that in which they were first changed.
    @Test("is that of the additions", arguments: Addition.allCases, [false, true])
    private func added(addition: Addition, hasRead: Bool) throws {
        for (end, refreshes) in [(OtherEnd.fans, false), (.fans, true), (.ziblings, false), (.ziblings, true)] {
            let walk = try Self(end)
            let (owner, members) = (try walk.node("a", walk.worker), try "bcd".map { try walk.node($0, walk.worker) })
            for member in members.reversed() { member.setValue(member.value(forKey: "name"), forKey: "name") }
            if hasRead { #expect(try walk.order(walk.worker).isEmpty) }
            switch addition {
            case .toTheOrder: for member in members { try walk.list().add(member) }
            case .toTheOtherEnd: for member in members { member.mutableSetValue(forKey: end.rawValue).add(owner) }
            case .atOnce: owner.setValue(NSOrderedSet(array: members), forKey: "friends")
            }
            for context in [walk.worker, walk.main, walk.stage.context] {
                if refreshes { context.refreshAllObjects() }
                try context.save()
            }
            try walk.expectEverywhere("bcd", "\(end) \(refreshes)")
        }
    }

    @Test("is what the worker sees, whatever is saved and refreshed meanwhile", arguments: 0..<60)
    private func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        let walk = try Self(OtherEnd.allCases.randomElement(using: &generator) ?? .fans)
        var steps: [String] = []
        for _ in 0..<12 { steps.append(try walk.step(&generator)) }
        try walk.expectEverywhere(walk.order(walk.worker), steps.joined(separator: " "))
    }

    private func step(_ generator: inout SeededGenerator) throws -> String {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: try worker.save(); return "worker.save"
        case 1: try main.save(); return "main.save"
        case 2: try stage.context.save(); return "root.save"
        case 3: worker.refreshAllObjects(); return "worker.refresh"
        case 4: main.refreshAllObjects(); return "main.refresh"
        case 5: stage.context.refreshAllObjects(); return "root.refresh"
        case 6: worker.processPendingChanges(); return "process"
        default:
            let name = "abcd".randomElement(using: &generator) ?? "a"
            let (member, list) = (try node(name, worker), try list())
            if list.contains(member) { list.remove(member); return "-\(name)" }
            let index = Int.random(in: 0...list.count, using: &generator)
            list.insert(member, at: index)
            return "+\(name)@\(index)"
        }
    }
}
