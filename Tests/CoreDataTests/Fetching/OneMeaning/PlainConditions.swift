import Foundation

/// A key path: along relationships, perhaps to an attribute.
struct PlainPath {
    /// The variable of a subquery that it starts at; nil for the fetched object.
    var variable: String?
    var relations: [PlainShape.Relation]
    /// Nil for the object itself that the relationships lead to.
    var attribute: String?

    var isToMany: Bool { relations.contains(where: \.isToMany) }
}

/// What stands on a side of a comparison.
indirect enum Term {
    case path(PlainPath)
    case constant(Plain)
    case count(PlainPath)
    /// `@min` and the like, of an attribute of the members.
    case aggregate(String, PlainPath)
    case subquery(PlainPath, variable: String, Condition)
    case arithmetic(String, Term, Term)
}

/// A predicate, as the reference knows it.
indirect enum Condition {
    enum Quantifier: String { case any = "ANY", all = "ALL", none = "NONE" }

    case always(Bool)
    case and([Condition])
    case or([Condition])
    case not(Condition)
    case compare(Term, String, Term, String)
    case among(Term, [Plain], String)
    case between(Term, Plain, Plain)
    case quantified(Quantifier, PlainPath, String, Plain, String)
    /// A value among those of a to-many relationship, or a constant.
    case amongMembers(Term, PlainPath)
    case contains(PlainPath, Plain)
    /// An object with one, or with nil.
    case isObject(PlainPath, Int?, isNegated: Bool)
    case isSameObject(PlainPath, PlainPath)
    case isAnyOf(PlainPath, [Int])
    /// Objects of a to-many relationship.
    case hasMember(Quantifier, PlainPath, Int)
    case isMember(PlainPath, Int)
    case entityName(PlainPath, String, String)
}
