/// AND, OR and NOT, without recursion: compounds may be nested as deep as memory goes.
extension Evaluator {
    func truth(of tree: PredicateTree, for object: Any?) throws -> Bool? {
        var open: [OpenCompound] = []
        var tree = tree
        while true {
            if let compound = OpenCompound(tree) {
                open.append(compound)
                tree = compound.parts[0]
                continue
            }
            var answer = try truth(ofLeaf: tree, for: object)
            while !open.isEmpty, open[open.count - 1].isDecided(by: answer) { answer = open.removeLast().answer }
            guard let compound = open.last else { return answer }
            tree = compound.parts[compound.next]
        }
    }

    private func truth(ofLeaf tree: PredicateTree, for object: Any?) throws -> Bool? {
        switch tree {
        case .comparison(let comparison): try truth(of: comparison, for: object)
        case .opaque(let predicate): predicate.evaluate(with: object, substitutionVariables: variables)
        case .constant(let value): value
        // Of no parts: those with parts are opened.
        case .and: true
        case .or: false
        case .not(let part): preconditionFailure("NOT \(part) has a part")
        }
    }
}

/// A compound whose parts are asked one after the other, until one of them decides.
private struct OpenCompound {
    private enum Kind { case and, or, not }

    private let kind: Kind
    let parts: [PredicateTree]
    /// The part to be asked.
    private(set) var next = 0
    /// What the parts asked so far say: unknown where none has decided, but one is unknown.
    private(set) var answer: Bool?

    /// Nil for what has no parts.
    init?(_ tree: PredicateTree) {
        switch tree {
        case .and(let parts): (kind, self.parts, answer) = (.and, parts, true)
        case .or(let parts): (kind, self.parts, answer) = (.or, parts, false)
        case .not(let part): (kind, parts, answer) = (.not, [part], nil)
        case .constant, .comparison, .opaque: return nil
        }
        if parts.isEmpty { return nil }
    }

    /// Notes the answer of the next part; true where the compound's is known now.
    mutating func isDecided(by part: Bool?) -> Bool {
        next += 1
        if kind == .not {
            answer = part.map { !$0 }
            return true
        }
        if part == nil { answer = nil }
        guard part == (kind == .or) else { return next == parts.count }
        answer = part
        return true
    }
}
