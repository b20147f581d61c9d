import Foundation
import Predicates
import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

/// A class that says the names of its properties' key paths, for `#Predicate` and `NSSortDescriptor(\Book.title)`: Swift's key paths have none.
///
/// A class that the plugin makes says them already. Each class is asked once.
///
/// ```swift
/// extension Book: KeyPathNaming {
///     static var keyPathNames: [AnyKeyPath: String] { [\Book.title: "title", \Book.pages: "pages", \Book.author: "author"] }
/// }
/// ```
public protocol KeyPathNaming: NSManagedObject {
    static var keyPathNames: [AnyKeyPath: String] { get }
}

extension _NSPredicateFactory where Self: NSPredicate {
    /// The predicate that Swift's `#Predicate` says, with Swift's meaning of nil: `$0.name != "x"` holds where the name is nil.
    ///
    /// Translated as a whole, so that a store answers it. What cannot be translated is asked of each object, as a block is: in memory.
    /// `init(translating:)` throws instead.
    public init<Object: NSManagedObject>(_ predicate: Predicate<Object>) {
        do {
            self = try Self(translating: predicate)
        } catch {
            self = asked(predicate)
        }
    }

    /// The predicate that Swift's `#Predicate` says, for a store to answer.
    ///
    /// - Throws: `CocoaError` 134060, with what has no translation: a property without a name in `keyPathNames`, or an operation that format
    ///   strings do not have.
    public init<Object: NSManagedObject>(translating predicate: Predicate<Object>) throws {
        var translation = PredicateTranslation()
        translation.names[predicate.variable.key] = NSExpression(.evaluatedObject)
        let translated = try translation.predicate(predicate.expression)
        guard let predicate = translated as? Self else { throw PredicateTranslation.refusal("a subclass of NSPredicate") }
        self = predicate
    }
}

private func asked<Object: NSManagedObject, Made: NSPredicate>(_ predicate: Predicate<Object>) -> Made {
    let block = NSPredicate { object, _ in (object as? Object).map { (try? predicate.evaluate($0)) ?? false } ?? false }
    guard let made = block as? Made else { misuse("\(Made.self)(_:) cannot make a subclass of NSPredicate. Write NSPredicate(_:).") }
    return made
}

/// Walks the expression of a `#Predicate`. Each kind of expression translates itself.
struct PredicateTranslation {
    /// What the variables stand for: the object, a member of a collection, or what an optional chain has led to.
    var names: [PredicateExpressions.VariableID: NSExpression] = [:]
    private var memberCount = 0

    func predicate(_ expression: Any) throws -> NSPredicate {
        guard let expression = expression as? any TranslatablePredicate else { throw Self.refusal("\(type(of: expression))") }
        return try expression.predicate(self)
    }

    func expression(_ expression: Any) throws -> NSExpression {
        guard let expression = expression as? any TranslatableExpression else { throw Self.refusal("\(type(of: expression))") }
        return try expression.expression(self)
    }

    /// With a name for what a variable stands for.
    func naming(_ variable: PredicateExpressions.VariableID, _ expression: NSExpression) -> PredicateTranslation {
        var inner = self
        inner.names[variable] = expression
        return inner
    }

    /// The members of a collection for which a condition holds.
    func members(
        of collection: Any,
        _ variable: PredicateExpressions.VariableID,
        where condition: Any,
        isNegated: Bool = false
    ) throws -> NSExpression {
        var inner = self
        inner.memberCount += 1
        let name = "member\(inner.memberCount)"
        inner.names[variable] = NSExpression(forVariable: name)
        let test = try inner.predicate(condition)
        return NSExpression(
            forSubquery: try expression(collection),
            usingIteratorVariable: name,
            predicate: isNegated ? CompoundPredicate(notPredicateWithSubpredicate: test) : test
        )
    }

    static func count(_ collection: NSExpression) -> NSExpression { path("@count", of: collection) }

    static func path(_ key: String, of operand: NSExpression) -> NSExpression {
        switch operand.tree {
        case .evaluatedObject: NSExpression(forKeyPath: key)
        case .keyPath(let base, let path): NSExpression(.keyPath(operand: base, path + "." + key))
        default: NSExpression(.keyPath(operand: operand, key))
        }
    }

    static func compare(
        _ left: NSExpression,
        _ type: NSComparisonPredicate.Operator,
        _ right: NSExpression,
        _ options: NSComparisonPredicate.Options = []
    ) -> NSPredicate {
        NSComparisonPredicate(leftExpression: left, rightExpression: right, modifier: .direct, type: type, options: options)
    }

    static func all(_ parts: [NSPredicate]) -> NSPredicate { CompoundPredicate(andPredicateWithSubpredicates: parts) }
    static func any(_ parts: [NSPredicate]) -> NSPredicate { CompoundPredicate(orPredicateWithSubpredicates: parts) }
    static func not(_ part: NSPredicate) -> NSPredicate { CompoundPredicate(notPredicateWithSubpredicate: part) }

    /// Swift's equality, which is never unknown: nil is equal to nil, and to nothing else.
    static func areEqual(_ left: NSExpression, _ right: NSExpression) -> NSPredicate {
        let parts = [left, right].filter(mayBeNil)
        let equal = compare(left, .equalTo, right)
        if parts.isEmpty || isNil(left) || isNil(right) { return equal }
        let present = all(parts.map { isNil($0, false) } + [equal])
        return parts.count < 2 ? present : any([present, all(parts.map { isNil($0, true) })])
    }

    /// A comparison that is false, not unknown, where a value is nil.
    static func known(_ comparison: NSPredicate, _ operands: [NSExpression]) -> NSPredicate {
        let parts = operands.filter(mayBeNil)
        return parts.isEmpty ? comparison : all(parts.map { isNil($0, false) } + [comparison])
    }

    static func isNil(_ expression: NSExpression, _ isNil: Bool) -> NSPredicate {
        compare(expression, isNil ? .equalTo : .notEqualTo, NSExpression(forConstantValue: nil))
    }

    private static func isNil(_ expression: NSExpression) -> Bool {
        if case .constant(let value) = expression.tree { value == nil || value is NSNull } else { false }
    }

    private static func mayBeNil(_ expression: NSExpression) -> Bool {
        switch expression.tree {
        case .constant: false
        case .keyPath(_, let path): !path.hasSuffix("@count")
        case .conditional(let test, let then, let other): givesNil(then) || givesNil(other) && !asks(test, whetherNil: other)
        default: true
        }
    }

    private static func givesNil(_ expression: NSExpression) -> Bool { isNil(expression) || mayBeNil(expression) }

    /// Whether a condition is that of `??`.
    private static func asks(_ test: NSPredicate, whetherNil expression: NSExpression) -> Bool {
        guard let test = test as? NSComparisonPredicate else { return false }
        return test.leftExpression === expression && test.predicateOperatorType == .equalTo && isNil(test.rightExpression)
    }

    static func refusal(_ what: String) -> CocoaError {
        .coreData(.coreData, "A #Predicate cannot be translated for a store: it has \(what). NSPredicate(_:) evaluates it in memory.")
    }
}

/// An expression that has a value.
protocol TranslatableExpression {
    func expression(_ translation: PredicateTranslation) throws -> NSExpression
}

/// An expression that is true or false.
protocol TranslatablePredicate {
    func predicate(_ translation: PredicateTranslation) throws -> NSPredicate
}

/// An expression that is read, though it may be a condition too.
protocol NamedValue {}
