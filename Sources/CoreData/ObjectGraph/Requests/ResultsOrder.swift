import Foundation
import Predicates

/// The order of a list of results. The values of stored attributes are read in place, which fires no fault; all others by name.
final class ResultsOrder {
    private struct Term {
        let descriptor: NSSortDescriptor
        // What the descriptor says, asked for once.
        let kind: SortKind
        let isAscending: Bool
        /// Nil where the descriptor reads anything but a stored attribute of the object itself.
        let slot: Int?

        init(_ descriptor: NSSortDescriptor, slot: Int?) {
            (self.descriptor, self.slot) = (descriptor, slot)
            (kind, isAscending) = (descriptor.sortKind, descriptor.ascending)
        }
    }

    /// An object to be placed, with the values that decide where.
    struct Probe {
        let object: NSManagedObject
        fileprivate let values: [SlotValue]
    }

    private let terms: [Term]
    /// Whether nothing decides but stored attributes of the objects themselves.
    var readsStoredAttributes: Bool { terms.allSatisfy { $0.slot != nil } }
    /// How many pairs of objects have been compared.
    private(set) var comparisonCount = 0

    init(_ descriptors: [NSSortDescriptor], _ entity: NSEntityDescription) {
        terms = descriptors.map { descriptor in
            guard case .key(let key) = descriptor.sortKey, descriptor.sortKind != .comparator,
                case .attribute(let slot, let attribute)? = entity.shape.properties[key], attribute.attributeType.isOrdered,
                !attribute.isTransient
            else { return Term(descriptor, slot: nil) }
            return Term(descriptor, slot: slot)
        }
    }

    func probe(_ object: NSManagedObject) -> Probe {
        Probe(object: object, values: terms.map { $0.slot.map(object.storedValue(in:)) ?? .null })
    }

    func precedes(_ left: NSManagedObject, _ right: NSManagedObject) -> Bool { compare(probe(left), right) == .orderedAscending }

    /// In order; of equal objects, those that come first stay first.
    ///
    /// - Parameter limit: how many of the first are wanted; 0 for all.
    func sorted(_ objects: [NSManagedObject], limit: Int) -> [NSManagedObject] {
        let probes = objects.map(probe)
        guard limit > 0, limit < objects.count / 8 else { return probes.sorted { compare($0, $1) == .orderedAscending }.map(\.object) }
        var first: [Probe] = []
        for probe in probes {
            if first.count == limit, compare(probe, first[limit - 1]) != .orderedAscending { continue }
            first.insert(probe, at: first.partitioningIndex { compare(probe, $0) == .orderedAscending })
            if first.count > limit { first.removeLast() }
        }
        return first.map(\.object)
    }

    /// One ordered list of two; of equal objects, those of the first come first.
    func merged(_ first: [NSManagedObject], _ second: [NSManagedObject]) -> [NSManagedObject] {
        guard !first.isEmpty, !second.isEmpty else { return first + second }
        let probes = second.map(probe)
        var merged: [NSManagedObject] = []
        merged.reserveCapacity(first.count + second.count)
        var next = 0
        for object in first {
            while next < second.count, compare(probes[next], object) == .orderedAscending {
                merged.append(second[next])
                next += 1
            }
            merged.append(object)
        }
        return merged + second[next...]
    }

    private func compare(_ left: Probe, _ right: Probe) -> ComparisonResult {
        comparisonCount += 1
        for index in terms.indices {
            let order = compare(left, index, right.object, { right.values[index] })
            if order != .orderedSame { return order }
        }
        return .orderedSame
    }

    /// The order of an object to another one, in the direction of the descriptors.
    func compare(_ probe: Probe, _ other: NSManagedObject) -> ComparisonResult {
        comparisonCount += 1
        for index in terms.indices {
            let order = textOrder(probe, index, other) ?? compare(probe, index, other) { other.storedValue(in: terms[index].slot ?? 0) }
            if order != .orderedSame { return order }
        }
        return .orderedSame
    }

    /// Compares texts where they are: to make a string of each costs more. Nil for other values.
    private func textOrder(_ probe: Probe, _ index: Int, _ other: NSManagedObject) -> ComparisonResult? {
        guard let slot = terms[index].slot, case .string(var text) = probe.values[index] else { return nil }
        if other.state.contains(.rowless) { other.fire() }
        let row = other.currentRow
        if row.isNull(slot) { return nil }
        let kind = terms[index].kind
        let order = text.withUTF8 { text in
            row.withText(slot) { other in
                other.withMemoryRebound(to: UInt8.self) { SortComparison.compare(utf8: text, $0, kind: kind) }
            }
        }
        if order == 0 { return .orderedSame }
        return (order < 0) == terms[index].isAscending ? .orderedAscending : .orderedDescending
    }

    private func compare(_ probe: Probe, _ index: Int, _ other: NSManagedObject, _ value: () -> SlotValue) -> ComparisonResult {
        guard terms[index].slot != nil, let order = SlotOrder.compare(probe.values[index], value(), terms[index].kind) else {
            return terms[index].descriptor.compare(probe.object, to: other)
        }
        return terms[index].isAscending ? order : order.opposite
    }
}

/// The order of values as rows hold them, the same that sort descriptors give.
private enum SlotOrder {
    /// Nil for values that are not met often, or have an order of their own.
    static func compare(_ left: SlotValue, _ right: SlotValue, _ kind: SortKind) -> ComparisonResult? {
        switch (left, right) {
        case (.null, .null): .orderedSame
        case (.null, _): isNumber(right) ? .orderedAscending : nil
        case (_, .null): isNumber(left) ? .orderedDescending : nil
        case (.integer(let a), .integer(let b)): order(a, b)
        case (.string(let a), .string(let b)): order(a, b, kind)
        case (.date(let a), .date(let b)): order(a, b)
        case (.double(let a), .double(let b)) where !a.isNaN && !b.isNaN: order(a, b)
        case (.boolean(let a), .boolean(let b)): order(a ? 1 : 0, b ? 1 : 0)
        default: nil
        }
    }

    /// Whether it is a value, and not one that counts as none.
    private static func isNumber(_ value: SlotValue) -> Bool {
        switch value {
        case .double(let number): !number.isNaN
        case .float(let number): !number.isNaN
        case .decimal(let number): !number.isNaN
        default: true
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
        left < right ? .orderedAscending : right < left ? .orderedDescending : .orderedSame
    }

    private static func order(_ left: String, _ right: String, _ kind: SortKind) -> ComparisonResult {
        var (left, right) = (left, right)
        let order = left.withUTF8 { left in right.withUTF8 { SortComparison.compare(utf8: left, $0, kind: kind) } }
        return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
    }
}

extension Array {
    /// The index of the first element for which `isBehind` holds, as it does for all that follow.
    fileprivate func partitioningIndex(_ isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension ComparisonResult {
    fileprivate var opposite: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}

extension NSAttributeType {
    fileprivate var isOrdered: Bool {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType, .doubleAttributeType,
            .floatAttributeType, .decimalAttributeType, .stringAttributeType, .dateAttributeType:
            true
        default: false
        }
    }
}

extension NSManagedObject {
    /// The value of a stored attribute, of a fault too, which stays one where its row is at hand.
    func storedValue(in slot: Int) -> SlotValue {
        if state.contains(.rowless) { fire() }
        return currentRow.value(slot)
    }
}
