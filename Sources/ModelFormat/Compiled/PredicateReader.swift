/// Reads predicates and expressions from a keyed archive.
///
/// Objects that contain themselves, or each other again and again, end as errors: a predicate has a greatest depth and size.
struct PredicateReader {
    static func predicate(_ object: ArchivedObject?) throws -> Model.Predicate? {
        var reader = PredicateReader()
        return try object.map { try reader.predicate($0) }
    }

    static func expression(_ object: ArchivedObject?) throws -> Model.Expression? {
        var reader = PredicateReader()
        return try object.map { try reader.expression($0) }
    }

    private var depth = 0
    private var size = 0

    private static let deepest = 100
    private static let largest = 20_000

    /// Runs `body` one level deeper.
    private mutating func within<Result>(
        _ object: ArchivedObject,
        _ body: (inout PredicateReader) throws -> Result
    ) throws -> Result {
        depth += 1
        size += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw object.error("predicates are nested more than \(Self.deepest) levels deep") }
        guard size <= Self.largest else { throw object.error("a predicate has more than \(Self.largest) parts") }
        return try body(&self)
    }

    private mutating func part(_ object: ArchivedObject, _ key: String) throws -> Model.Expression {
        guard let part = try object.object(key) else { throw object.error("\(key) is missing") }
        return try expression(part)
    }

    private mutating func condition(_ object: ArchivedObject, _ key: String) throws -> Model.Predicate {
        guard let part = try object.object(key) else { throw object.error("\(key) is missing") }
        return try predicate(part)
    }
}

/// Predicates.
extension PredicateReader {
    private mutating func predicate(_ object: ArchivedObject) throws -> Model.Predicate {
        try within(object) { reader in
            switch object.className {
            case "NSTruePredicate": .constant(true)
            case "NSFalsePredicate": .constant(false)
            case "NSComparisonPredicate": .comparison(try reader.comparison(object))
            case "NSCompoundPredicate": try reader.compound(object)
            default: throw object.error("no predicate of this class can be read")
            }
        }
    }

    private mutating func comparison(_ object: ArchivedObject) throws -> Model.Predicate.Comparison {
        guard let comparator = try object.object("NSPredicateOperator"), let type = try comparator.integer("NSOperatorType"),
            let operation = Model.Predicate.Operator(rawValue: type)
        else { throw object.error("the operator cannot be read") }
        guard let modifier = Model.Predicate.Modifier(rawValue: try comparator.integer("NSModifier") ?? 0) else {
            throw comparator.error("the modifier cannot be read")
        }
        let options = try comparator.integer("NSOptions") ?? comparator.integer("NSFlags") ?? 0
        return Model.Predicate.Comparison(
            try part(object, "NSLeftExpression"),
            operation,
            try part(object, "NSRightExpression"),
            modifier: modifier,
            options: options
        )
    }

    private mutating func compound(_ object: ArchivedObject) throws -> Model.Predicate {
        let parts = try object.objects("NSSubpredicates").map { try predicate($0) }
        switch try object.integer("NSCompoundPredicateType") {
        case 0?:
            guard let part = parts.first, parts.count == 1 else { throw object.error("a negation has \(parts.count) parts, not one") }
            return .not(part)
        case 1?: return .and(parts)
        case 2?: return .or(parts)
        default: throw object.error("the type of compound predicate cannot be read")
        }
    }
}

/// Expressions.
extension PredicateReader {
    private mutating func expression(_ object: ArchivedObject) throws -> Model.Expression {
        try within(object) { reader in
            switch object.className {
            case "NSConstantValueExpression": .constant(try reader.constant(object))
            case "NSSelfExpression": .evaluatedObject
            case "NSVariableExpression": .variable(try object.text("NSVariable") ?? "")
            case "NSKeyPathSpecifierExpression": .keyPath(nil, try object.text("NSKeyPath") ?? "")
            case "NSKeyPathExpression", "NSFunctionExpression": try reader.function(object)
            case "NSAggregateExpression": .aggregate(try object.objects("NSCollection").map { try reader.expression($0) })
            case "NSSetExpression": try reader.set(object)
            case "NSSubqueryExpression": try reader.subquery(object)
            case "NSTernaryExpression", "NSConditionalExpression": try reader.conditional(object)
            case "NSFetchRequestExpression": try reader.fetch(object)
            case "NSAnyKeyExpression": .anyKey
            default: throw object.error("no expression of this class can be read")
            }
        }
    }

    private func constant(_ object: ArchivedObject) throws -> Model.Value? {
        if let collection = try? object.object("NSConstantValue"), collection.keys["NS.objects"] != nil, collection.keys["NS.keys"] == nil {
            return .array(try collection.values())
        }
        return try object.modelValue("NSConstantValue")
    }

    /// A function calls a selector on an operand. `valueForKeyPath:` makes it a key path; an operand that is a class of predefined
    /// functions makes it one of those.
    private mutating func function(_ object: ArchivedObject) throws -> Model.Expression {
        guard let selector = try object.text("NSSelectorName"), let operand = try object.object("NSOperand") else {
            throw object.error("the selector or the operand is missing")
        }
        let arguments = try object.objects("NSArguments").map { try expression($0) }
        if selector == "valueForKey:" || selector == "valueForKeyPath:", case .keyPath(nil, let path)? = arguments.first {
            return .keyPath(operand.className == "NSSelfExpression" ? nil : try expression(operand), path)
        }
        if try operand.text("NSConstantValueClassName") != nil { return .function(selector, arguments) }
        return .call(try expression(operand), selector, arguments)
    }

    private mutating func set(_ object: ArchivedObject) throws -> Model.Expression {
        guard let operation = Model.Expression.SetOperation(rawValue: try object.integer("NSExpressionType") ?? 0) else {
            throw object.error("the set operation cannot be read")
        }
        return .set(operation, try part(object, "NSLeftExpression"), try part(object, "NSRightExpression"))
    }

    private mutating func subquery(_ object: ArchivedObject) throws -> Model.Expression {
        // The variable is a text, or an expression with that text.
        let variable = try? object.object("NSVariable")
        let name = try (variable ?? object).text("NSVariable") ?? ""
        return .subquery(try part(object, "NSExpression"), variable: name, try condition(object, "NSPredicate"))
    }

    private mutating func conditional(_ object: ArchivedObject) throws -> Model.Expression {
        .conditional(
            try condition(object, "NSPredicate"),
            try part(object, "NSTrueExpression"),
            try part(object, "NSFalseExpression")
        )
    }

    private mutating func fetch(_ object: ArchivedObject) throws -> Model.Expression {
        .fetch(
            request: try part(object, "NSFRExpression"),
            context: try part(object, "NSMOCExpression"),
            countOnly: try object.flag("NSCountOnlyFlag")
        )
    }
}

extension ArchivedObject {
    /// The value under a key; nil for nil.
    func modelValue(_ key: String) throws -> Model.Value? {
        do {
            return try Model.Value(keys[key], in: archive)
        } catch let error as ModelFormatError where error.place == nil {
            throw self.error("\(key): \(error.reason)")
        }
    }

    /// The values in a collection, without nil.
    fileprivate func values() throws -> [Model.Value] {
        guard case .array(let nodes)? = keys["NS.objects"] else { throw error("NS.objects is missing") }
        return try nodes.compactMap { try Model.Value($0, in: archive) }
    }
}
