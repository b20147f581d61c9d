/// A key of which the compiler knows that there is one; `%K` of a format takes it.
public protocol NamedKey {
    var name: String { get }
}
