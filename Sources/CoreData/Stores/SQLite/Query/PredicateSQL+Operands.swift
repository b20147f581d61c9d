import Predicates
import SQLiteDriver
import class Predicates.NSExpression

extension PredicateSQL {
    /// The value of an expression in SQL.
    ///
    /// - Throws: `BeyondSQL`, also for a collection; or the error for a key that does not exist.
    mutating func operand(_ expression: NSExpression) throws -> SQLOperand {
        try goDeeper()
        defer { depth -= 1 }
        if !selected.isEmpty, let column = selectedColumn(expression) { return column }
        switch expression.tree {
        case .constant(let value): return try operand(constant: value)
        case .function(let name, let arguments): return try operand(function: name, arguments)
        case .call(let target, let selector, let arguments): return try operand(message: selector, to: target, arguments)
        case .conditional(let condition, let yes, let no): return try operand(condition, yes, no)
        case .variable(let name) where aggregation == nil && scope(of: name) == nil:
            throw CocoaError.coreData(
                .coreData,
                "The variable $\(name) in a predicate of \(scopes[0].entity.description.name ?? "?") has no value: substitute it first."
            )
        case .keyPath(let base?, let path):
            if case .subquery(let collection, let variable, let predicate) = base.tree, path == "@count" {
                return try count(of: collection, variable: variable, where: predicate)
            }
        default: break
        }
        guard let target = try target(of: expression) else { throw BeyondSQL() }
        return try operand(target)
    }

    /// TERNARY.
    private mutating func operand(_ condition: NSPredicate, _ yes: NSExpression, _ no: NSExpression) throws -> SQLOperand {
        let test = try apart { try $0.write(condition.tree) }
        let (yes, no) = (try operand(yes), try operand(no))
        guard yes.kind == no.kind || yes.kind.isComparable(to: no.kind) || no.kind == .null || yes.kind == .null,
            yes.kind != .foreign, no.kind != .foreign
        else { throw BeyondSQL() }
        var text = SQLText(sql: "(CASE WHEN ")
        for part in [test, SQLText(sql: " THEN "), yes.text, SQLText(sql: " ELSE "), no.text, SQLText(sql: " END)")] { text.append(part) }
        let kind = yes.kind == .null ? no.kind : no.kind == .null || yes.kind == no.kind ? yes.kind : .real
        return SQLOperand(text, kind)
    }

    /// Where an expression that names a row or a key path leads; nil for every other.
    mutating func target(of expression: NSExpression) throws -> KeyPathTarget? {
        switch expression.tree {
        case .evaluatedObject: return rowTarget(0)
        case .keyPath(nil, let path): return try target(of: path, scope: 0)
        case .variable(let name): return scope(of: name).map(rowTarget)
        case .keyPath(let base?, let path):
            guard case .variable(let name) = base.tree, let scope = scope(of: name) else { return nil }
            return try target(of: path, scope: scope)
        default: return nil
        }
    }

    func rowTarget(_ scope: Int) -> KeyPathTarget {
        let (key, entity) = row(of: scope)
        return .row(key: key, entity)
    }

    private func scope(of variable: String) -> Int? { scopes.lastIndex { $0.variable == variable } }

    mutating func operand(_ target: KeyPathTarget) throws -> SQLOperand {
        switch target {
        case .attribute(let column, let attribute):
            let kind = try attribute.attributeType.kind
            // NB: the data may be in a file.
            if kind == .data, attribute.allowsExternalBinaryDataStorage { throw BeyondSQL() }
            return SQLOperand(column, kind)
        case .row(let key, let entity): return SQLOperand(key, .row(root: entity.rootEntity.index))
        case .entityNumber(let column): return SQLOperand(column, .entity)
        case .entityName(let column, let entity): return SQLOperand(name(in: column, entity), .text)
        case .collection(let collection, let rest): return try aggregate(rest, of: collection)
        }
    }

    private func name(in column: String, _ entity: SQLEntity) -> String {
        let names = schema.subtree(of: entity.description).map { entity in
            " WHEN \(entity.number) THEN '\((entity.description.name ?? "").replacing("'", with: "''"))'"
        }
        return "CASE \(column)\(names.joined()) END"
    }

    private func operand(constant value: Any?) throws -> SQLOperand {
        guard let constant = constant(value) else { throw BeyondSQL() }
        return SQLOperand(constant)
    }

    /// A constant as a parameter; nil for a list.
    func constant(_ value: Any?) -> SQLConstant? {
        switch PredicateConstant(value) {
        case .scalar(let constant): constant
        case .row(let identity): constant(identity)
        case .entity(let entity):
            SQLConstant(value: .integer(Int64(schema.numbering.number(of: entity) ?? 0)), kind: .entity)
        case .list: nil
        }
    }

    /// One of another store equals nothing here, nor does one of an entity that the model has not got. Temporary keys are in no store.
    private func constant(_ identity: RowIdentity) -> SQLConstant {
        let isHere = identity.key < 0 || home == nil || identity.space.home.map { $0 === home || $0.identifier == home?.identifier } == true
        guard isHere, let entity = identity.space.entity(in: scopes[0].entity.description.managedObjectModel) else { return .foreign }
        return SQLConstant(value: .integer(identity.arrived.key), kind: .row(root: entity.rootEntity.index))
    }
}

extension NSAttributeType {
    fileprivate var kind: SQLKind {
        get throws {
            switch self {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType: .integer
            case .doubleAttributeType: .real
            case .floatAttributeType: .float
            case .decimalAttributeType: .decimal
            case .stringAttributeType: .text
            case .dateAttributeType: .date
            case .binaryDataAttributeType: .data
            case .UUIDAttributeType: .uuid
            case .URIAttributeType: .url
            case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType:
                throw BeyondSQL()
            }
        }
    }
}

extension EntityNumbering {
    /// The number of an entity of this model, or of one that is equal to it; nil for others.
    fileprivate func number(of entity: NSEntityDescription) -> Int? {
        entities.first { $0 == entity }.flatMap { self[$0] }
    }
}
