import Foundation

extension NSExpression {
    func hasSameStructure(as other: NSExpression) -> Bool {
        switch (tree, other.tree) {
        case (.constant(let a), .constant(let b)): sameConstant(a, b)
        case (.evaluatedObject, .evaluatedObject), (.anyKey, .anyKey): true
        case (.variable(let a), .variable(let b)): a == b
        case (.keyPath(let a, let pathA), .keyPath(let b, let pathB)): pathA == pathB && a == b
        case (.function(let a, let argumentsA), .function(let b, let argumentsB)): a == b && argumentsA == argumentsB
        case (.call(let targetA, let a, let argumentsA), .call(let targetB, let b, let argumentsB)):
            a == b && targetA == targetB && argumentsA == argumentsB
        case (.index(let a, let indexA), .index(let b, let indexB)): a == b && indexA.expression == indexB.expression
        case (.aggregate(let a), .aggregate(let b)): a == b
        case (.set(let a, let leftA, let rightA), .set(let b, let leftB, let rightB)): a == b && leftA == leftB && rightA == rightB
        case (.subquery(let a, let nameA, let predicateA), .subquery(let b, let nameB, let predicateB)):
            a == b && nameA == nameB && predicateA.hasSameStructure(as: predicateB)
        case (.conditional(let a, let thenA, let elseA), .conditional(let b, let thenB, let elseB)):
            a.hasSameStructure(as: b) && thenA == thenB && elseA == elseB
        default: false
        }
    }

    /// Leaves constants out: values that are equal need not print alike.
    var structuralHash: Int {
        var hasher = Hasher()
        hasher.combine(expressionType)
        switch tree {
        case .keyPath(_, let name), .variable(let name), .function(let name, _), .call(_, let name, _): hasher.combine(name)
        default: break
        }
        return hasher.finalize()
    }

    private func sameConstant(_ a: Any?, _ b: Any?) -> Bool {
        if a == nil || b == nil { return a == nil && b == nil }
        return Value(a).isEqual(to: Value(b))
    }
}

extension NSPredicate {
    func hasSameStructure(as other: NSPredicate) -> Bool {
        if self === other { return true }
        return switch (shape, other.shape) {
        case (.constant(let a), .constant(let b)): a == b
        case (.compound(let a), .compound(let b)): a.compoundPredicateType == b.compoundPredicateType && sameParts(a, b)
        case (.comparison(let a), .comparison(let b)): a.isEqual(b)
        case (.opaque, .opaque): isEqual(other)
        default: false
        }
    }

    private func sameParts(_ a: NSCompoundPredicate, _ b: NSCompoundPredicate) -> Bool {
        a.subpredicates.elementsEqual(b.subpredicates) { $0.hasSameStructure(as: $1) }
    }
}
