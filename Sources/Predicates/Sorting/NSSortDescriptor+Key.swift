import Foundation

/// What a sort descriptor reads from the objects that it compares.
public enum SortKey: Hashable, CustomStringConvertible {
    /// A key path in a string.
    case key(String)
    /// A Swift key path, for whoever knows its name.
    case keyPath(AnyKeyPath)
    /// The object itself.
    case object

    public var description: String {
        switch self {
        case .key(let key): key
        case .keyPath(let keyPath): "\(keyPath)"
        case .object: "self"
        }
    }
}

/// Lends `NSSortDescriptor` initialisers that answer with a class of ours; see `_NSPredicateFactory`.
public protocol _NSSortDescriptorFactory {}

extension NSSortDescriptor: _NSSortDescriptorFactory {}

extension _NSSortDescriptorFactory where Self: NSSortDescriptor {
    /// Sorts by the value of a key path: nil first when ascending, numbers by value, texts by their UTF-8 bytes. A nil key is the object.
    public init(key: String?, ascending: Bool) {
        self.init(key: key, ascending: ascending, selector: nil)
    }

    /// Sorts texts as the selector says: `compare:`, `caseInsensitiveCompare:`, `localizedCompare:`,
    /// `localizedCaseInsensitiveCompare:` or `localizedStandardCompare:`.
    ///
    /// - Precondition: the selector is one of these: nothing else can be called here.
    public init(key: String?, ascending: Bool, selector: Selector?) {
        guard let kind = SortKind(selector) else {
            fatalError(
                "NSSortDescriptor(key: \"\(key ?? "self")\", selector: \"\(selector?.name ?? "")\"): no such comparison here. "
                    + "Use one of Foundation's, or init(key:ascending:comparator:)."
            )
        }
        self = made(
            KeySortDescriptor(SortKey(key), ascending: ascending, kind: kind, selector: selector) {
                SortComparison.compare($0, $1, kind: kind)
            }
        )
    }

    /// Sorts by a closure. Only in memory: a store cannot run it. Nil values do not reach it, they go first when ascending.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        self = made(KeySortDescriptor(SortKey(key), ascending: ascending, kind: .comparator, order: skippingNil(comparator)))
    }

    /// Sorts by a Swift key path to a value that Foundation's own initialiser does not take, such as an optional one.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(sortingInMemoryBy: keyPath, ascending: ascending)
    }

    /// Sorts by a Swift key path of which nobody knows the name.
    package init<Root, Value>(sortingInMemoryBy keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self = made(KeySortDescriptor(.keyPath(keyPath), ascending: ascending, kind: .binary) { SortComparison.compare($0, $1) })
    }
}

extension NSSortDescriptor {
    /// The key path in a string; nil for the object itself, and for Swift key paths, which have no name here.
    public var key: String? {
        if case .key(let key) = sortKey { key } else { nil }
    }

    public var selector: Selector? { (self as? KeySortDescriptor)?.selectorStorage }

    public var sortKey: SortKey { (self as? KeySortDescriptor)?.sortKeyStorage ?? .keyPath(keyPath) }

    /// How the values are ordered.
    ///
    /// NB: a comparator handed to Foundation's own `init(keyPath:ascending:comparator:)` cannot be told from its default order.
    public var sortKind: SortKind { (self as? KeySortDescriptor)?.kind ?? .binary }
}

extension SortKey {
    fileprivate init(_ key: String?) {
        self = key.map { $0.uppercased() == "SELF" || $0.isEmpty ? .object : .key($0) } ?? .object
    }
}

private func skippingNil(_ comparator: @escaping Comparator) -> (Any?, Any?) -> ComparisonResult {
    { left, right in
        switch (left, right) {
        case (let left?, let right?): comparator(left, right)
        case (nil, nil): .orderedSame
        case (nil, _): .orderedAscending
        case (_, nil): .orderedDescending
        }
    }
}

private func made<Wanted: NSSortDescriptor>(_ descriptor: KeySortDescriptor) -> Wanted {
    guard let descriptor = descriptor as? Wanted else {
        fatalError("\(Wanted.self)(key:ascending:) cannot make a subclass of NSSortDescriptor. Write NSSortDescriptor(key:ascending:).")
    }
    return descriptor
}

extension Sequence {
    /// The elements in the order of the descriptors; the second decides where the first finds no difference, and so on.
    public func sorted(using descriptors: [NSSortDescriptor]) -> [Element] {
        sorted { left, right in
            for descriptor in descriptors {
                let order = descriptor.compare(left, to: right)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return false
        }
    }
}
