import Foundation

/// The sort descriptor that the initialisers with a key give.
final class KeySortDescriptor: NSSortDescriptor {
    let sortKeyStorage: SortKey
    let kind: SortKind
    let selectorStorage: Selector?
    private let keys: [String]
    private let order: (Any?, Any?) -> ComparisonResult

    init(_ key: SortKey, ascending: Bool, kind: SortKind, selector: Selector? = nil, order: @escaping (Any?, Any?) -> ComparisonResult) {
        sortKeyStorage = key
        self.kind = kind
        selectorStorage = selector
        self.order = order
        keys = if case .key(let path) = key { path.split(separator: ".").map(String.init) } else { [] }
        // Foundation wants a key path of its own, which is never asked.
        super.init(keyPath: \NSObject.self, ascending: ascending, comparator: { _, _ in .orderedSame })
    }

    /// - Precondition: both objects have the key.
    override func compare(_ left: Any, to right: Any) -> ComparisonResult {
        let result = order(value(in: left), value(in: right))
        return ascending ? result : result.reversed
    }

    private func value(in object: Any) -> Any? {
        do { return try readValue(in: object) } catch { fatalError("NSSortDescriptor cannot sort by \"\(key ?? "")\": \(error)") }
    }

    fileprivate func readValue(in object: Any) throws -> Any? {
        switch sortKeyStorage {
        case .object: object
        case .keyPath(let keyPath): flattened(object[keyPath: keyPath])
        // NB: of a missing owner nothing is counted, as in SQL.
        case .key: try KeyPathReader(semantics: .sql).value(of: keys, in: object)
        }
    }

    override var reversedSortDescriptor: Any {
        KeySortDescriptor(sortKeyStorage, ascending: !ascending, kind: kind, selector: selectorStorage, order: order)
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override var hash: Int {
        var hasher = Hasher()
        hasher.combine(sortKeyStorage)
        hasher.combine(ascending)
        return hasher.finalize()
    }

    /// Descriptors with a closure are equal only to themselves.
    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        return self === other
            || (sortKeyStorage == other.sortKeyStorage && ascending == other.ascending && kind == other.kind && kind != .comparator)
    }

    override var description: String {
        "(\(sortKeyStorage), \(ascending ? "ascending" : "descending"), \(selectorStorage?.name ?? "compare:"))"
    }
}

extension NSSortDescriptor {
    /// Sees whether an object can be compared with others.
    ///
    /// - Throws: `PredicateEvaluationError` where it has no value for the key.
    package func requireValue(in object: Any) throws { _ = try (self as? KeySortDescriptor)?.readValue(in: object) }
}
