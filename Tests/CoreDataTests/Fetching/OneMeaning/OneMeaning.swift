import CoreData
import Foundation

/// The same data in several places: in the store, unsaved in each of three layers, and changed at random in all of them. One request is to have
/// one answer in each place: the reference's.
struct OneMeaning {
    /// A difference that was found, as text.
    struct Difference: CustomStringConvertible {
        let description: String
    }

    private struct Place {
        let name: String
        let stack: GraphStack
        /// Where it is asked.
        let layer: Int
        /// What is there; nil for all that there is.
        var graph: PlainGraph?
        /// Where later changes are made; nil where another place does it, of the same stack.
        var changed: Int?
        var saves = false
    }

    let seed: UInt64
    private var dice: Dice
    private var places: [Place] = []
    private var graph: PlainGraph
    private(set) var kinds: [String: Int]
    private(set) var differences: [Difference] = []

    /// - Parameter kinds: what was counted before.
    init(seed: UInt64, kinds: [String: Int] = [:]) throws {
        (self.seed, self.kinds) = (seed, kinds)
        var dice = Dice(seed: seed)
        let shape = PlainShape(using: &dice)
        let model = shape.model
        var graphs = [PlainGraph(shape: shape)]
        let mixed = try GraphStack(shape, model)
        let base = Self.changes(of: &graphs[0], inserts: 12, links: 15, others: 0, &dice)
        mixed.apply(base, in: 0)
        try mixed.save(0)
        if dice.chance(2) { mixed.forgetObjects() }
        for layer in 0..<3 {
            var next = graphs[layer]
            mixed.apply(Self.changes(of: &next, inserts: 1, links: 2, others: 8, &dice), in: layer)
            graphs.append(next)
        }
        try Self.saveSome(mixed, &graphs, &dice)
        graph = graphs[3]
        for layer in 0..<2 { places.append(Place(name: "mixed, layer \(layer)", stack: mixed, layer: layer, graph: graphs[layer + 1])) }
        places.append(Place(name: "mixed", stack: mixed, layer: 2, changed: 2))
        for layer in 0..<3 {
            let stack = try GraphStack(shape, model)
            stack.apply(graph.changes, in: layer)
            places.append(Place(name: "unsaved in layer \(layer)", stack: stack, layer: 2, changed: layer))
        }
        let saved = try GraphStack(shape, model)
        saved.apply(graph.changes, in: 0)
        try saved.save(0)
        if dice.chance(2) { saved.forgetObjects() }
        places.append(Place(name: "saved", stack: saved, layer: 0, changed: 0, saves: true))
        places.append(Place(name: "saved, seen through layers", stack: saved, layer: 2))
        self.dice = dice
    }

    /// The same data in stores of several kinds: saved, seen through layers, and with unsaved changes above.
    init(seed: UInt64, kinds: [String: Int], stores: [(type: String, place: () -> URL?)]) throws {
        (self.seed, self.kinds) = (seed, kinds)
        var dice = Dice(seed: seed)
        let shape = PlainShape(using: &dice)
        graph = PlainGraph(shape: shape)
        let base = Self.changes(of: &graph, inserts: 12, links: 15, others: 0, &dice)
        let later = Self.changes(of: &graph, inserts: 1, links: 2, others: 8, &dice)
        for store in stores {
            let stacks = try (0..<2).map { _ in try GraphStack(shape, shape.model, ofType: store.type, at: store.place()) }
            for stack in stacks {
                stack.apply(base, in: 0)
                try stack.save(0)
                if dice.chance(2) { stack.forgetObjects() }
                stack.apply(later, in: 0)
            }
            try stacks[0].save(0)
            if store.type != NSInMemoryStoreType, dice.chance(2) { try stacks[0].reopen() }
            places.append(Place(name: "saved in \(store.type)", stack: stacks[0], layer: 0, changed: 0, saves: true))
            places.append(Place(name: "saved in \(store.type), seen through layers", stack: stacks[0], layer: 2))
            places.append(Place(name: "changed above \(store.type)", stack: stacks[1], layer: 0, changed: 0))
        }
        self.dice = dice
    }

    private static func changes(
        of graph: inout PlainGraph,
        inserts: Int,
        links: Int,
        others: Int,
        _ dice: inout Dice
    ) -> [PlainGraph.Change] {
        var changes: [PlainGraph.Change] = []
        for _ in 0..<inserts {
            changes.append(graph.insert(using: &dice))
            graph.apply(changes[changes.count - 1])
        }
        for _ in 0..<links {
            guard let change = graph.randomLink(using: &dice) else { continue }
            graph.apply(change)
            changes.append(change)
        }
        for _ in 0..<others { if let change = graph.change(using: &dice) { changes.append(change) } }
        return changes
    }

    /// The leaf's changes go to the middle, and from there to the root, now and then.
    private static func saveSome(_ stack: GraphStack, _ graphs: inout [PlainGraph], _ dice: inout Dice) throws {
        if dice.chance(4) {
            try stack.save(2)
            graphs[2] = graphs[3]
        }
        if dice.chance(6) {
            try stack.save(1)
            graphs[1] = graphs[2]
        }
        if dice.chance(8) { try stack.save(0) }
    }

    /// Asks so many random requests in every place.
    ///
    /// - Throws: where something cannot be saved.
    mutating func ask(_ count: Int) throws {
        for round in 0..<count {
            ask(round: round)
            if round % 8 == 7 { try change() }
        }
    }

    /// Goes on working: the same two changes everywhere.
    private mutating func change() throws {
        let changes = Self.changes(of: &graph, inserts: 0, links: 0, others: 2, &dice)
        for place in places {
            guard let layer = place.changed else { continue }
            place.stack.apply(changes, in: layer)
            if place.saves { try place.stack.save(layer) }
        }
    }

    private mutating func ask(round: Int) {
        var requests = RandomRequests(graph, kinds: kinds)
        let request = requests.request(using: &dice)
        kinds = requests.kinds
        let namingObjectsByID = dice.chance(2)
        for place in places {
            let expected = request.answer(in: place.graph ?? graph)
            do {
                let answer = try place.stack.answer(request, in: place.layer, namingObjectsByID: namingObjectsByID)
                if !request.accepts(answer, expected) { note(place, round, request, "\(answer), not \(expected)") }
            } catch {
                note(place, round, request, "the error \(error), not \(expected)")
            }
        }
    }

    private mutating func note(_ place: Place, _ round: Int, _ request: PlainRequest, _ answer: String) {
        let predicate = try? request.condition.map { try ConditionText.predicate($0) { "object \($0)" } }
        let text = """
            seed \(seed), round \(round), \(place.name): \(request.form) of \(graph.shape.entities[request.entity].name)\
            \(request.includesSubentities ? "" : " alone") where \(predicate.map { "\($0)" } ?? "-") \
            order \(request.order.map { "\($0.ascending ? "" : "-")\($0.key) \($0.selector ?? "")" }) \
            limit \(request.limit) offset \(request.offset) gives \(answer)
            """
        differences.append(Difference(description: text))
    }
}

extension PlainRequest {
    fileprivate func accepts(_ answer: [Int], _ expected: [Int]) -> Bool {
        switch form {
        case .count, .countResult: answer.count == expected.count
        default: order.isEmpty ? answer.sorted() == expected.sorted() : answer == expected
        }
    }
}
