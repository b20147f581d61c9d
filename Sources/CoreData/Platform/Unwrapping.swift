/// Takes optionals out of an `Any`, whose wrapping hides that there is nothing in them.
func unwrapped(_ value: Any?) -> Any? {
    var value = value
    while let wrapped = value, let optional = wrapped as? any Unwrapping { value = optional.content }
    return value
}

private protocol Unwrapping {
    var content: Any? { get }
}

extension Optional: Unwrapping {
    fileprivate var content: Any? { map { $0 } }
}
