import Foundation

/// A value as a member of a set: two are one when they are equal as in `==`.
struct DistinctValue: Hashable {
    let value: Value

    init(_ value: Value) { self.value = value }
    init(_ any: Any?) { value = Value(any) }

    static func == (a: DistinctValue, b: DistinctValue) -> Bool { a.value.isEqual(to: b.value) }

    /// Numbers that are equal are equal as doubles too, whatever their types.
    func hash(into hasher: inout Hasher) {
        switch value {
        case .null: hasher.combine(0)
        case .number(let number): hasher.combine(number.double)
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .date(let date): hasher.combine(date)
        case .data(let data): hasher.combine(data)
        case .uuid(let uuid): hasher.combine(uuid)
        case .url(let url): hasher.combine(url.absoluteString)
        case .list(let elements):
            hasher.combine(elements.count)
            // Lists in lists count by their lengths only: values may be nested deep.
            for element in elements.lazy.map({ Value($0) }) where element.elements == nil { DistinctValue(element).hash(into: &hasher) }
        case .set(let elements): hasher.combine(elements.count)
        case .object(let object):
            if let standIn = object as? any StandIn {
                hasher.combine(standIn.standsFor)
            } else if let object = object as? AnyHashable {
                hasher.combine(object)
            }
        }
    }
}

/// The elements of a constant collection, hashed on the first question, so that `x IN %@` takes no walk over the list per object.
///
/// NB: predicates are shared between threads although Foundation's class is not Sendable; hence the lock.
final class ConstantMembers {
    let elements: [Any?]
    private let lock = NSLock()
    private var hashed: Set<DistinctValue>?

    init(_ elements: [Any?]) {
        self.elements = elements
    }

    func contains(_ value: Value) -> Bool { members.contains(DistinctValue(value)) }

    private var members: Set<DistinctValue> {
        lock.lock()
        defer { lock.unlock() }
        if let hashed { return hashed }
        let members = Set(elements.map { DistinctValue($0) })
        hashed = members
        return members
    }
}
