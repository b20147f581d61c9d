import Foundation

/// Lends `NSSet` an initialiser that only the body of a class can declare as required.
public protocol _NSSetLiteral: ExpressibleByArrayLiteral where ArrayLiteralElement == Any {}

extension _NSSetLiteral where Self: NSSet {
    public init(arrayLiteral elements: Any...) { self = set(of: elements) }
}

// NB: a mutable one, because the compiler takes a literal of a subclass for one of NSSet and then uses it as what was asked for.
private func set<Wanted: NSSet>(of elements: [Any]) -> Wanted {
    guard let set = NSMutableSet(array: elements) as? Wanted else { misuse("\(Wanted.self) cannot be written as a literal.") }
    return set
}

extension NSSet: _NSSetLiteral {}

/// A set as a list in brackets, as with Apple: `contact.tags = [tag]`.
///
/// NB: not for `NSMutableSet` and `NSCountedSet`: Swift 6.3 compiles such a literal wrongly, which ends the program. Write
/// `NSMutableSet(array: [tag])`.
extension NSSet: @retroactive ExpressibleByArrayLiteral {}
