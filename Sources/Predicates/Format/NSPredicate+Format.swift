import Foundation

/// Lends `NSPredicate` initialisers that answer with another class than the one named.
///
/// NB: only an initialiser in a protocol extension may assign `self`, and Foundation's own of the same names are unavailable here.
public protocol _NSPredicateFactory {}

extension NSPredicate: _NSPredicateFactory {}

extension _NSPredicateFactory where Self: NSPredicate {
    /// The predicate that a format says, with its conversions (`%@`, `%K`, `%d`…) filled from the arguments.
    ///
    /// What `%K` stands for is a text, or a key that the compiler checks: `Contact.Keys.name`.
    ///
    /// > Note: Use `init(parsing:arguments:)` for text that comes from a user.
    /// - Precondition: the format is well-formed and uses each argument once, else the program stops and says where.
    public init(format: String, _ arguments: Any?...) {
        self = trapping { try PredicateParser.predicate(format, arguments) }
    }

    /// As `init(format:_:)`; nil stands for no arguments, `NSNull` for nil.
    public init(format: String, argumentArray: [Any]?) {
        let arguments: [Any?] = (argumentArray ?? []).map { $0 is NSNull ? nil : $0 }
        self = trapping { try PredicateParser.predicate(format, arguments) }
    }

    /// For code from a Mac that fills a list of C's with `withVaList`: the program stops, as values have no place in one on Linux.
    ///
    /// NB: were it unavailable, the compiler would repeat Foundation's message of the same initialiser, that formats are not supported.
    @available(*, deprecated, message: "Linux has no va_list of objects: NSPredicate(format: format, argumentArray: arguments) takes them.")
    public init(format: String, arguments: CVaListPointer) {
        fatalError("Linux has no va_list of objects: NSPredicate(format: format, argumentArray: arguments) takes them.")
    }

    /// The predicate that a format says, for text from outside the program.
    ///
    /// ```swift
    /// let predicate = try NSPredicate(parsing: "name BEGINSWITH[c] %@", arguments: [prefix])
    /// ```
    /// - Throws: `PredicateFormatError` for a malformed format, an argument of the wrong type, one too few or too many.
    public init(parsing format: String, arguments: [Any?] = []) throws {
        self = cast(try PredicateParser.predicate(format, arguments))
    }
}

extension NSExpression {
    /// The expression that a format says.
    ///
    /// - Precondition: the format is well-formed and uses each argument once, else the program stops and says where.
    public convenience init(format: String, _ arguments: Any?...) {
        self.init(trappingTree(format, arguments))
    }

    /// As `init(format:_:)`; `NSNull` stands for nil.
    public convenience init(format: String, argumentArray: [Any]) {
        self.init(trappingTree(format, argumentArray.map { $0 is NSNull ? nil : $0 }))
    }

    /// The expression that a format says, for text from outside the program.
    ///
    /// - Throws: `PredicateFormatError`, as for predicates.
    public convenience init(parsing format: String, arguments: [Any?] = []) throws {
        self.init(try PredicateParser.expression(format, arguments).tree)
    }
}

private func trappingTree(_ format: String, _ arguments: [Any?]) -> ExpressionTree {
    do {
        return try PredicateParser.expression(format, arguments).tree
    } catch {
        fatalError("\(error). init(parsing:arguments:) throws this instead.")
    }
}

private func trapping<Wanted: NSPredicate>(_ parse: () throws -> NSPredicate) -> Wanted {
    do {
        return cast(try parse())
    } catch {
        fatalError("\(error). NSPredicate(parsing:arguments:) throws this instead.")
    }
}

private func cast<Wanted: NSPredicate>(_ predicate: NSPredicate) -> Wanted {
    guard let predicate = predicate as? Wanted else {
        fatalError(
            "\(Wanted.self)(format:) cannot make a \(Wanted.self) of \"\(predicate.printedFormat)\", which is \(type(of: predicate)). "
                + "Write NSPredicate(format:)."
        )
    }
    return predicate
}
