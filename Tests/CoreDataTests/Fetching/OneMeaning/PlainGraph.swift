import Foundation

/// Objects as plain values: what the reference evaluates.
struct PlainGraph {
    struct Node {
        let number: Int
        let entity: Int
        var values: [String: Plain]
    }

    struct Pair: Hashable {
        let source, target: Int
    }

    /// One step of what makes a graph, here or in a context.
    enum Change {
        case insert(Node)
        case set(Int, String, Plain)
        case link(Int, Pair)
        case unlink(Int, Pair)
        case delete(Int)
    }

    let shape: PlainShape
    private(set) var nodes: [Int: Node] = [:]
    private(set) var pairs: [Set<Pair>]

    init(shape: PlainShape) {
        self.shape = shape
        pairs = shape.links.map { _ in [] }
    }

    var numbers: [Int] { nodes.keys.sorted() }

    func numbers(of entities: [Int]) -> [Int] { numbers.filter { entities.contains(nodes[$0]?.entity ?? -1) } }

    /// What a relationship of a node holds.
    func targets(of number: Int, _ relation: PlainShape.Relation) -> [Int] {
        let found = pairs[relation.link].compactMap { pair in
            relation.isForward ? (pair.source == number ? pair.target : nil) : pair.target == number ? pair.source : nil
        }
        return found.sorted()
    }

    mutating func apply(_ change: Change) {
        switch change {
        case .insert(let node): nodes[node.number] = node
        case .set(let number, let key, let value): nodes[number]?.values[key] = value
        case .unlink(let link, let pair): pairs[link].remove(pair)
        case .link(let link, let pair):
            let shape = shape.links[link]
            pairs[link] = pairs[link].filter { other in
                !(shape.sourceIsSingle && other.source == pair.source || shape.targetIsSingle && other.target == pair.target)
            }
            pairs[link].insert(pair)
        case .delete(let number):
            nodes[number] = nil
            for link in pairs.indices { pairs[link] = pairs[link].filter { $0.source != number && $0.target != number } }
        }
    }

    /// What makes this graph out of nothing.
    var changes: [Change] {
        let inserts = numbers.compactMap { nodes[$0] }.map(Change.insert)
        let links = pairs.enumerated().flatMap { index, pairs in
            pairs.sorted { ($0.source, $0.target) < ($1.source, $1.target) }.map { Change.link(index, $0) }
        }
        return inserts + links
    }
}

/// Random changes of a graph.
extension PlainGraph {
    mutating func change(using dice: inout Dice) -> Change? {
        let change = randomChange(using: &dice)
        if let change { apply(change) }
        return change
    }

    private func randomChange(using dice: inout Dice) -> Change? {
        let number = nodes.isEmpty ? 0 : dice.pick(numbers)
        switch Int.random(in: 0..<10, using: &dice) {
        case 0, 1: return insert(using: &dice)
        case 2, 3, 4:
            guard let node = nodes[number] else { return nil }
            let attribute = dice.pick(shape.entities[node.entity].attributes)
            return .set(number, attribute.name, value(of: attribute.type, using: &dice))
        case 5, 6, 7: return randomLink(using: &dice)
        case 8: return randomUnlink(using: &dice)
        default:
            // What points at it without an inverse would dangle.
            guard shape.links.allSatisfy(\.hasInverse), nodes[number] != nil else { return nil }
            return .delete(number)
        }
    }

    func insert(using dice: inout Dice) -> Change {
        let entity = Int.random(in: shape.entities.indices, using: &dice)
        var values: [String: Plain] = [:]
        for (name, type) in shape.entities[entity].attributes { values[name] = value(of: type, using: &dice) }
        return .insert(Node(number: dice.fresh(), entity: entity, values: values))
    }

    private func value(of type: PlainType, using dice: inout Dice) -> Plain { dice.chance(4) ? .null : dice.pick(type.values) }

    func randomLink(using dice: inout Dice) -> Change? {
        let link = Int.random(in: shape.links.indices, using: &dice)
        let sources = numbers(of: shape.family(of: shape.links[link].source))
        let targets = numbers(of: shape.family(of: shape.links[link].target))
        guard !sources.isEmpty, !targets.isEmpty else { return nil }
        return .link(link, Pair(source: dice.pick(sources), target: dice.pick(targets)))
    }

    private func randomUnlink(using dice: inout Dice) -> Change? {
        let link = Int.random(in: pairs.indices, using: &dice)
        let all = pairs[link].sorted { ($0.source, $0.target) < ($1.source, $1.target) }
        return all.isEmpty ? nil : .unlink(link, dice.pick(all))
    }
}

extension Dice {
    /// A number that is in no graph yet. Its order says nothing about when it was made.
    fileprivate mutating func fresh() -> Int { Int.random(in: 1..<1_000_000_000, using: &self) }
}
