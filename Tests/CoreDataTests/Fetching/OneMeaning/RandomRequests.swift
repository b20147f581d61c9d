import CoreData
import Foundation

/// A request, as the reference knows it.
struct PlainRequest {
    struct Order {
        let path: PlainPath
        let isCount: Bool
        let ascending: Bool
        /// A selector, or nothing.
        let selector: String?

        var key: String {
            (path.relations.map(\.name) + (path.attribute.map { [$0] } ?? []) + (isCount ? ["@count"] : [])).joined(separator: ".")
        }
    }

    /// The forms in which the answer is asked for.
    enum Form: String, CaseIterable {
        case objects, noFaults, batches, identitiesOnly, sequence, objectIDs, count, countResult, prefetching, partial
    }

    var entity: Int
    var includesSubentities: Bool
    var condition: Condition?
    /// Ends with a unique key; empty for no order.
    var order: [Order]
    var limit = 0
    var offset = 0
    var form: Form
    var relations: [String]

    /// What the graph answers: the numbers of the objects.
    func answer(in graph: PlainGraph) -> [Int] {
        let entities = includesSubentities ? graph.shape.family(of: entity) : [entity]
        let found = graph.numbers(of: entities).filter { number in
            condition.map { PlainEvaluation(graph: graph, node: number).truth($0) == true } ?? true
        }
        let sorted = found.sorted { precedes($0, $1, graph) }.dropFirst(offset)
        return Array(limit > 0 ? sorted.prefix(limit) : sorted)
    }

    private func precedes(_ left: Int, _ right: Int, _ graph: PlainGraph) -> Bool {
        for order in order {
            let result = Self.compare(order.value(left, graph), order.value(right, graph), order.selector)
            if result != .orderedSame { return result == (order.ascending ? .orderedAscending : .orderedDescending) }
        }
        return false
    }

    /// Nil comes first.
    private static func compare(_ left: Plain, _ right: Plain, _ selector: String?) -> ComparisonResult {
        switch (left, right, selector) {
        case (.null, .null, _): .orderedSame
        case (.null, _, _): .orderedAscending
        case (_, .null, _): .orderedDescending
        case (.text(let a), .text(let b), "caseInsensitiveCompare:"?): PlainOrder.order(.text(a), .text(b), "c") ?? .orderedSame
        case (.text(let a), .text(let b), "localizedStandardCompare:"?): a.localizedStandardCompare(b)
        case (.text(let a), .text(let b), "localizedCompare:"?): a.localizedCompare(b)
        case (.text(let a), .text(let b), "localizedCaseInsensitiveCompare:"?): a.localizedCaseInsensitiveCompare(b)
        default: PlainOrder.order(left, right) ?? .orderedSame
        }
    }
}

extension PlainRequest.Order {
    fileprivate func value(_ number: Int, _ graph: PlainGraph) -> Plain {
        let evaluation = PlainEvaluation(graph: graph, node: number)
        return evaluation.value(isCount ? .count(path) : .path(path))
    }

    var descriptor: NSSortDescriptor {
        guard selector == "comparator" else {
            return NSSortDescriptor(key: key, ascending: ascending, selector: selector.map { Selector($0) })
        }
        return NSSortDescriptor(key: key, ascending: ascending) { left, right in
            guard let left = left as? NSNumber, let right = right as? NSNumber else { return .orderedSame }
            return left.compare(right)
        }
    }
}

/// Makes random requests, and counts what is in them by kind.
struct RandomRequests {
    let shape: PlainShape
    let numbers: [Int]
    private(set) var kinds: [String: Int] = [:]
    var variables: [(name: String, entity: Int)] = []

    init(_ graph: PlainGraph, kinds: [String: Int]) {
        (shape, numbers, self.kinds) = (graph.shape, graph.numbers, kinds)
    }

    mutating func note(_ kind: String) { kinds[kind, default: 0] += 1 }

    mutating func request(using dice: inout Dice) -> PlainRequest {
        let entity = Int.random(in: shape.entities.indices, using: &dice)
        let form = dice.chance(2) ? .objects : dice.pick(PlainRequest.Form.allCases)
        note("form: \(form.rawValue)")
        var request = PlainRequest(
            entity: entity,
            includesSubentities: !dice.chance(5),
            condition: dice.chance(12) ? nil : condition(entity, depth: dice.pick([0, 0, 1, 2, 3]), &dice),
            order: dice.chance(8) ? [] : orders(entity, &dice),
            form: form,
            relations: shape.entities[entity].relations.map(\.name)
        )
        if !request.order.isEmpty, dice.chance(3) {
            request.limit = dice.pick([1, 2, 5, 100])
            note("limit")
        }
        if !request.order.isEmpty, dice.chance(5) {
            request.offset = dice.pick([1, 3, 50])
            note("offset")
        }
        return request
    }

    private mutating func orders(_ entity: Int, _ dice: inout Dice) -> [PlainRequest.Order] {
        let some = (0..<dice.pick([0, 1, 1, 2])).map { _ in order(entity, &dice) }
        let last = PlainPath(relations: [], attribute: "number")
        return some + [PlainRequest.Order(path: last, isCount: false, ascending: dice.chance(2), selector: nil)]
    }

    private mutating func order(_ entity: Int, _ dice: inout Dice) -> PlainRequest.Order {
        if dice.chance(6), let path = members(entity, nil, &dice), path.relations.count(where: \.isToMany) == 1,
            path.relations.last?.isToMany == true
        {
            note("sort: @count")
            return PlainRequest.Order(path: path, isCount: true, ascending: dice.chance(2), selector: nil)
        }
        let (path, type) = attribute(entity, nil, &dice)
        note(path.relations.isEmpty ? "sort: attribute" : "sort: across to-one")
        let selectors = [
            nil, nil, "caseInsensitiveCompare:", "localizedStandardCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:",
        ]
        var selector = type == .text ? dice.pick(selectors) : nil
        if type.isNumber, dice.chance(6) { selector = "comparator" }
        if let selector { note("sort: \(selector)") }
        return PlainRequest.Order(path: path, isCount: false, ascending: dice.chance(2), selector: selector)
    }
}

/// Paths.
extension RandomRequests {
    /// Where along up to two to-one relationships, from an entity or from a variable.
    mutating func walk(_ entity: Int, _ dice: inout Dice) -> (relations: [PlainShape.Relation], end: Int) {
        var relations: [PlainShape.Relation] = []
        var end = entity
        for _ in 0..<dice.pick([0, 0, 1, 1, 2]) {
            let next = shape.entities[end].relations.filter { !$0.isToMany }
            if next.isEmpty { break }
            let relation = dice.pick(next)
            relations.append(relation)
            end = relation.destination
        }
        if !relations.isEmpty { note("path across to-one") }
        return (relations, end)
    }

    mutating func attribute(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> (PlainPath, PlainType) {
        let (relations, end) = walk(entity, &dice)
        let attribute = dice.pick(shape.entities[end].attributes)
        return (PlainPath(variable: variable, relations: relations, attribute: attribute.name), attribute.type)
    }

    /// To the members of a to-many relationship; nil where there is none.
    mutating func members(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> PlainPath? {
        let (relations, end) = walk(entity, &dice)
        let many = shape.entities[end].relations.filter(\.isToMany)
        if many.isEmpty { return nil }
        var path = PlainPath(variable: variable, relations: relations + [dice.pick(many)])
        let behind = shape.entities[self.end(of: path, entity)].relations.filter(\.isToMany)
        if dice.chance(6), !behind.isEmpty {
            note("path across two to-many")
            path.relations.append(dice.pick(behind))
        } else if dice.chance(4), let next = shape.entities[self.end(of: path, entity)].relations.first(where: { !$0.isToMany }) {
            note("path across to-many, then to-one")
            path.relations.append(next)
        }
        return path
    }

    func end(of path: PlainPath, _ entity: Int) -> Int { path.relations.last?.destination ?? entity }

    mutating func memberAttribute(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> (PlainPath, PlainType)? {
        guard var path = members(entity, variable, &dice) else { return nil }
        let attribute = dice.pick(shape.entities[end(of: path, entity)].attributes)
        path.attribute = attribute.name
        return (path, attribute.type)
    }

    /// Where a path may start: the object, or a variable of a subquery around.
    func start(_ entity: Int, _ dice: inout Dice) -> (entity: Int, variable: String?) {
        guard let inner = variables.last, !dice.chance(4) else { return (entity, nil) }
        return (inner.entity, inner.name)
    }
}
