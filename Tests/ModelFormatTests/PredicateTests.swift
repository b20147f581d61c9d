import Foundation
import ModelFormat
import Testing

@Suite("A predicate in a model")
struct PredicateTests {
    private static let age = Model.Expression.keyPath(nil, "age")

    private static let expressions: [(Model.Expression, String)] = [
        (.constant(nil), "nil"), (.constant(.string("a \"b\"\n")), #""a \"b\"\n""#), (.constant(.integer(-3)), "-3"),
        (.constant(.bool(true)), "1"), (.constant(.array([.integer(1), .real(0.5)])), "{1, 0.5}"),
        (.constant(.date(1.5)), "CAST(1.5, \"NSDate\")"), (.evaluatedObject, "SELF"), (.variable("x"), "$x"),
        (.keyPath(nil, "a.b.c"), "a.b.c"), (.keyPath(nil, "any.b"), "#any.b"), (.keyPath(.variable("source"), "a.b"), "$source.a.b"),
        (.function("sum:", [.keyPath(nil, "a.b")]), "sum:(a.b)"), (.function("now", []), "now()"),
        (.function("add:to:", [age, .constant(.integer(1))]), "(age + 1)"),
        (.function("castObject:toType:", [age, .constant(.string("NSDate"))]), "CAST(age, \"NSDate\")"),
        (.call(.variable("m"), "f:g:", [age, .evaluatedObject]), "FUNCTION($m, \"f:g:\", age, SELF)"),
        (.aggregate([age, .constant(.integer(2))]), "{age, 2}"), (.set(.union, age, .keyPath(nil, "b")), "(age) UNION (b)"),
        (.set(.minus, age, .keyPath(nil, "b")), "(age) MINUS (b)"),
        (
            .subquery(.keyPath(nil, "dogs"), variable: "d", .comparison(.init(.keyPath(.variable("d"), "age"), .greaterThan, age))),
            "SUBQUERY(dogs, $d, $d.age > age)"
        ),
        (.conditional(.constant(true), age, .constant(nil)), "TERNARY(TRUEPREDICATE, age, nil)"),
        (.fetch(request: .variable("r"), context: .variable("c"), countOnly: true), "FETCH($r, $c, YES)"), (.anyKey, "ANYKEY"),
    ]

    /// A model whose only attribute is validated by `predicates`.
    private func model(_ predicates: [Model.Predicate]) -> Model {
        var (model, entity, attribute) = (Model(), Model.Entity(), Model.Attribute())
        (attribute.name, attribute.type) = ("x", .string)
        attribute.validations = predicates.map { Model.Attribute.Validation($0, warning: "no") }
        (entity.name, entity.attributes) = ("E", [attribute])
        model.entities = [entity]
        return model
    }

    @Test("comes back from an archive with expressions of all kinds", arguments: expressions.indices)
    func expression(index: Int) throws {
        let (expression, format) = Self.expressions[index]
        #expect(expression.format == format)
        let model = model([.comparison(.init(expression, .equalTo, Self.age))])
        #expect(lines(try Model(archive: model.archived())) == lines(model))
    }

    @Test("comes back from an archive with operators of all kinds", arguments: Model.Predicate.Operator.allCases)
    func operators(operation: Model.Predicate.Operator) throws {
        let predicates: [Model.Predicate] = [
            .comparison(.init(Self.age, operation, .constant(.integer(1)), options: 3)),
            .comparison(.init(Self.age, operation, .constant(.integer(1)), modifier: .any)),
            .comparison(.init(Self.age, operation, .constant(.integer(1)), modifier: .all, options: 8)),
        ]
        #expect(try Model(archive: model(predicates).archived()) == model(predicates))
        #expect(predicates[0].format.contains("[cd] 1") && predicates[1].format.hasPrefix("ANY age "))
    }

    @Test("comes back from an archive when it is made of others")
    func compounds() throws {
        let part = Model.Predicate.comparison(.init(Self.age, .lessThan, .constant(.integer(5))))
        let whole = Model.Predicate.and([.not(part), .or([part, .constant(false)]), .and([]), .or([])])
        #expect(try Model(archive: model([whole]).archived()) == model([whole]))
        #expect(whole.format == "(NOT age < 5) AND (age < 5 OR FALSEPREDICATE) AND (TRUEPREDICATE) AND (FALSEPREDICATE)")
    }

    @Test("is a bound or a pattern only in its very form, with the warning for it")
    func bounds() throws {
        var model = model([])
        let length = Model.Expression.keyPath(nil, "length")
        model.entities[0].attributes[0].minimum = .integer(2)
        model.entities[0].attributes[0].pattern = "a+"
        model.entities[0].attributes[0].validations = [
            .init(.comparison(.init(length, .greaterThanOrEqualTo, .constant(.integer(3)))), warning: "1670"),
            .init(.comparison(.init(length, .lessThanOrEqualTo, .constant(.integer(3)))), warning: "too long"),
            .init(.comparison(.init(.evaluatedObject, .matches, .constant(.string("b")), options: 1)), warning: "1680"),
        ]
        #expect(lines(try Model(archive: model.archived())) == lines(model))
    }
}
