import Foundation
import Predicates
import class Predicates.NSComparisonPredicate

/// A predicate over the stored attributes of an entity, compiled to tests of the slots of its rows: for many objects.
///
/// Says the same as the predicate's evaluation with the meaning of SQL, for the comparisons that it knows.
indirect enum RowTest {
    case constant(Bool)
    case and([RowTest])
    case or([RowTest])
    case not(RowTest)
    case isNull(Int)
    case comparison(AttributeTest)

    /// Nil for a predicate with parts that it does not know.
    init?(_ predicate: PredicateTree, _ entity: NSEntityDescription) {
        switch predicate {
        case .constant(let value): self = .constant(value)
        case .and(let parts):
            guard let tests = Self.all(parts, entity) else { return nil }
            self = .and(tests)
        case .or(let parts):
            guard let tests = Self.all(parts, entity) else { return nil }
            self = .or(tests)
        case .not(let part):
            guard let test = RowTest(part, entity) else { return nil }
            self = .not(test)
        case .comparison(let comparison):
            guard let test = AttributeTest(comparison, entity) else { return nil }
            self = test.rowTest
        case .opaque: return nil
        }
    }

    private static func all(_ parts: [PredicateTree], _ entity: NSEntityDescription) -> [RowTest]? {
        let tests = parts.compactMap { RowTest($0, entity) }
        return tests.count == parts.count ? tests : nil
    }

    func holds(for row: Row) -> Bool { answer(row) == true }

    /// Nil for what is neither true nor false, because a value is nil.
    private func answer(_ row: Row) -> Bool? {
        switch self {
        case .constant(let value): return value
        case .and(let tests):
            var answer: Bool? = true
            for test in tests {
                let next = test.answer(row)
                if next == false { return false }
                if next == nil { answer = nil }
            }
            return answer
        case .or(let tests):
            var answer: Bool? = false
            for test in tests {
                let next = test.answer(row)
                if next == true { return true }
                if next == nil { answer = nil }
            }
            return answer
        case .not(let test): return test.answer(row).map { !$0 }
        case .isNull(let slot): return row.isNull(slot)
        case .comparison(let test): return Self.compare(row.value(test.slot), test.relation, test.constant)
        }
    }

    private static func compare(_ left: SlotValue, _ relation: AttributeTest.Relation, _ right: SlotValue) -> Bool? {
        switch (left, right) {
        case (.null, _): nil
        case (.integer(let left), .integer(let right)): relation.holds(left, right)
        case (.date(let left), .date(let right)): relation.holds(left, right)
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right) == (relation == .equal)
        case (.uuid(let left), .uuid(let right)): (left == right) == (relation == .equal)
        default: nil
        }
    }
}

/// The comparison of a stored attribute with a constant of its kind.
struct AttributeTest {
    enum Relation {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

        func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
            switch self {
            case .equal: left == right
            case .notEqual: left != right
            case .less: left < right
            case .lessOrEqual: left <= right
            case .greater: left > right
            case .greaterOrEqual: left >= right
            }
        }
    }

    let slot: Int
    let attribute: NSAttributeDescription
    let relation: Relation
    /// Null where the comparison is one with nil.
    let constant: SlotValue

    init?(_ comparison: NSComparisonPredicate, _ entity: NSEntityDescription) {
        guard comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty,
            case .keyPath(nil, let name) = comparison.leftExpression.tree, case .constant(let value) = comparison.rightExpression.tree,
            case .attribute(let slot, let attribute)? = entity.shape.properties[name], !attribute.isTransient,
            let relation = Relation(comparison.predicateOperatorType), case .scalar(let scalar) = PredicateConstant(value),
            let constant = Self.value(scalar, attribute.attributeType, relation)
        else { return nil }
        (self.slot, self.attribute, self.relation, self.constant) = (slot, attribute, relation, constant)
    }

    static func value(_ constant: SQLConstant, _ type: NSAttributeType, _ relation: Relation) -> SlotValue? {
        let isEquality = relation == .equal || relation == .notEqual
        switch (type, constant.kind, constant.value) {
        case (_, .null, _) where isEquality: return .null
        case (.integer16AttributeType, .integer, .integer(let number)), (.integer32AttributeType, .integer, .integer(let number)),
            (.integer64AttributeType, .integer, .integer(let number)):
            return .integer(number)
        case (.stringAttributeType, .text, .text(let text)) where isEquality: return .string(text)
        case (.dateAttributeType, .date, .real(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.UUIDAttributeType, .uuid, .blob(let bytes)) where isEquality && bytes.count == 16:
            return .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        default: return nil
        }
    }

    var rowTest: RowTest {
        guard case .null = constant else { return .comparison(self) }
        return relation == .equal ? .isNull(slot) : .not(.isNull(slot))
    }
}

extension AttributeTest.Relation {
    fileprivate init?(_ type: NSComparisonPredicate.Operator) {
        switch type {
        case .equalTo: self = .equal
        case .notEqualTo: self = .notEqual
        case .lessThan: self = .less
        case .lessThanOrEqualTo: self = .lessOrEqual
        case .greaterThan: self = .greater
        case .greaterThanOrEqualTo: self = .greaterOrEqual
        default: return nil
        }
    }
}
