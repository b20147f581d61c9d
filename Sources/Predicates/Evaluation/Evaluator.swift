import Foundation

/// What nil means in a comparison.
public enum PredicateSemantics: Sendable {
    /// As `evaluate(with:)`: nil is a value that differs from every other, so `nil != "x"` holds.
    case foundation
    /// As in SQL: a comparison with nil is neither true nor false, unless it is with a literal nil.
    case sql
}

extension PredicateTree {
    /// Whether the predicate holds for an object; nil is SQL's unknown, which only `.sql` gives. A fetch keeps only true.
    ///
    /// In `.sql`, `x == nil` and `x != nil` with a literal nil are IS NULL and IS NOT NULL; `IN` is unknown when nothing matches and
    /// nil is in the list; ANY holds when the comparison is true of an element and ALL when it is true of each, never unknown;
    /// `@count` and `@sum` of nothing are 0, the average of nothing is nil.
    /// - Throws: `PredicateEvaluationError`, or what a `KeyValueSource` throws.
    public func evaluate(
        _ object: Any?,
        semantics: PredicateSemantics = .foundation,
        variables: [String: Any] = [:]
    ) throws -> Bool? {
        try Evaluator(semantics: semantics, variables: variables).truth(of: self, for: object)
    }
}

extension NSExpression {
    /// The value of the expression for an object.
    ///
    /// - Throws: `PredicateEvaluationError`, or what a `KeyValueSource` throws.
    public func value(
        for object: Any?,
        semantics: PredicateSemantics = .foundation,
        variables: [String: Any] = [:]
    ) throws -> Any? {
        try Evaluator(semantics: semantics, variables: variables).value(of: self, for: object)
    }
}

/// Evaluates predicates and expressions under one meaning of nil.
struct Evaluator {
    let semantics: PredicateSemantics
    var variables: [String: Any]
    /// The variables that stand for an element of a subquery's collection.
    var iterated: Set<String> = []

    func truth(of tree: PredicateTree, for object: Any?) throws -> Bool? {
        switch tree {
        case .constant(let value): value
        case .and(let parts): try conjunction(parts) { try truth(of: $0, for: object) }
        case .or(let parts): try disjunction(parts) { try truth(of: $0, for: object) }
        case .not(let part): try truth(of: part, for: object).map { !$0 }
        case .comparison(let comparison): try truth(of: comparison, for: object)
        case .opaque(let predicate): predicate.evaluate(with: object, substitutionVariables: variables)
        }
    }

    func truth(of predicate: NSPredicate, for object: Any?) throws -> Bool? {
        switch predicate.shape {
        case .constant(let value): return value
        case .comparison(let comparison): return try truth(of: comparison, for: object)
        case .opaque: return predicate.evaluate(with: object, substitutionVariables: variables)
        case .compound(let compound):
            let parts = compound.subpredicates
            return switch compound.compoundPredicateType {
            case .and: try conjunction(parts) { try truth(of: $0, for: object) }
            case .or: try disjunction(parts) { try truth(of: $0, for: object) }
            case .not: try truth(of: parts[0], for: object).map { !$0 }
            }
        }
    }

    /// False as soon as a part is false; unknown when none is, but one is unknown.
    private func conjunction<Part>(_ parts: [Part], _ truth: (Part) throws -> Bool?) rethrows -> Bool? {
        var result: Bool? = true
        for part in parts {
            guard let holds = try truth(part) else {
                result = nil
                continue
            }
            if !holds { return false }
        }
        return result
    }

    private func disjunction<Part>(_ parts: [Part], _ truth: (Part) throws -> Bool?) rethrows -> Bool? {
        try conjunction(parts) { try truth($0).map { !$0 } }.map { !$0 }
    }

    func value(of expression: NSExpression, for object: Any?) throws -> Any? {
        switch expression.tree {
        case .constant(let value): value
        case .evaluatedObject: flattened(object)
        case .anyKey: throw PredicateEvaluationError.unsupported("ANYKEY has no value outside a Spotlight query")
        case .variable(let name): try variable(name)
        case .keyPath(nil, _): try reader.value(of: expression.keys, in: object)
        case .keyPath(let operand?, _): try reader.value(of: expression.keys, in: try value(of: operand, for: object))
        case .function(let name, let arguments):
            try PredicateFunctions.call(name, try arguments.map { try value(of: $0, for: object) })
        case .call(let target, let name, let arguments): try call(name, on: try value(of: target, for: object), arguments)
        case .index(let collection, let index): try element(index, of: try value(of: collection, for: object), object)
        case .aggregate(let elements): try elements.map { try value(of: $0, for: object) }
        case .set(let operation, let left, let right):
            operation.apply(Value(try value(of: left, for: object)), Value(try value(of: right, for: object)))
        case .subquery(let collection, let variable, let predicate): try subquery(collection, variable, predicate, object)
        case .conditional(let predicate, let yes, let no):
            try value(of: try truth(of: predicate, for: object) == true ? yes : no, for: object)
        case .block(let block, let arguments): try call(block, arguments, object)
        }
    }

    private var reader: KeyPathReader { KeyPathReader(semantics: semantics) }

    private func variable(_ name: String) throws -> Any? {
        guard let value = variables[name] else { throw PredicateEvaluationError.undefinedVariable(name) }
        return flattened(value)
    }

    /// There is no way to send a selector here; one without arguments is read as a key.
    private func call(_ name: String, on target: Any?, _ arguments: [NSExpression]) throws -> Any? {
        guard arguments.isEmpty, !name.contains(":") else {
            throw PredicateEvaluationError.unsupported("FUNCTION cannot call \"\(name)\": selectors with arguments do not exist here")
        }
        return try reader.value(of: [name], in: target)
    }

    private func call(_ block: NSExpression.Block, _ arguments: [NSExpression], _ object: Any?) throws -> Any? {
        let values = try arguments.map { try value(of: $0, for: object) ?? NSNull() }
        let context = NSMutableDictionary()
        for (name, value) in variables { context.setObject(value, forKey: name as NSString) }
        return flattened(block(object, values, context))
    }

    private func subquery(_ collection: NSExpression, _ variable: String, _ predicate: NSPredicate, _ object: Any?) throws -> Any? {
        let elements = Value(try value(of: collection, for: object)).elements ?? []
        var inner = self
        inner.iterated.insert(variable)
        return try elements.filter { element in
            inner.variables[variable] = element ?? NSNull()
            return try inner.truth(of: predicate, for: object) == true
        }
    }

    private func element(_ index: CollectionIndex, of collection: Any?, _ object: Any?) throws -> Any? {
        if let source = collection as? any KeyValueSource, case .at(let key) = index {
            return flattened(try source.predicateValue(forKey: "\(try value(of: key, for: object) ?? "")"))
        }
        let elements = Value(collection).elements ?? []
        switch index {
        case .first: return elements.first ?? nil
        case .last: return elements.last ?? nil
        case .size: return elements.count
        case .at(let expression):
            return PredicateFunctions.element(Value(try value(of: expression, for: object)), of: elements)
        }
    }
}

extension SetOperation {
    /// The elements of the result, each once, in the order of the left side.
    fileprivate func apply(_ left: Value, _ right: Value) -> [Any?] {
        let left = left.elements ?? []
        let right = ConstantMembers(right.elements ?? [])
        let kept: [Any?] =
            switch self {
            case .union: left + right.elements
            case .intersect: left.filter { right.contains(Value($0)) }
            case .minus: left.filter { !right.contains(Value($0)) }
            }
        return Aggregates.distinct(kept)
    }
}
