import Foundation

/// Makes the tree of a predicate without recursion: compounds may be nested as deep as memory goes.
///
/// ANDs in an AND and ORs in an OR become one, so that a chain that was put together pair by pair is as flat as one that was written down.
struct PredicateTreeBuilder {
    /// A compound whose parts are being made.
    private struct Level {
        let type: NSCompoundPredicate.LogicalType
        /// The parts that have not been looked at, the last first.
        var waiting: [NSPredicate]
        var parts: [PredicateTree] = []

        init(_ compound: NSCompoundPredicate) {
            type = compound.compoundPredicateType
            waiting = compound.subpredicates.reversed()
        }

        var tree: PredicateTree {
            switch type {
            case .and: return parts.count == 1 ? parts[0] : .and(parts)
            case .or: return parts.count == 1 ? parts[0] : .or(parts)
            // Foundation refuses a negation of nothing.
            case .not: if case .not(let part) = parts[0] { return part } else { return .not(parts[0]) }
            }
        }
    }

    private var levels: [Level]

    static func tree(of compound: NSCompoundPredicate) -> PredicateTree {
        var builder = PredicateTreeBuilder(levels: [Level(compound)])
        return builder.build()
    }

    private mutating func build() -> PredicateTree {
        while true {
            let top = levels.count - 1
            if let part = levels[top].waiting.popLast() {
                add(part, at: top)
            } else {
                let tree = levels.removeLast().tree
                if top == 0 { return tree }
                levels[top - 1].parts.append(tree)
            }
        }
    }

    private mutating func add(_ part: NSPredicate, at top: Int) {
        switch part.shape {
        case .constant(let value): levels[top].parts.append(.constant(value))
        case .comparison(let comparison): levels[top].parts.append(.comparison(comparison))
        case .opaque: levels[top].parts.append(.opaque(part))
        case .compound(let compound):
            if compound.compoundPredicateType == levels[top].type, levels[top].type != .not {
                levels[top].waiting += compound.subpredicates.reversed()
            } else {
                levels.append(Level(compound))
            }
        }
    }
}
