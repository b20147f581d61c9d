import Foundation

/// The permanent keys of the objects that a save inserts, by their temporary ones.
struct KeyForwarding {
    // Temporary keys of one save mostly follow each other, downwards: a window is an array; what lies far off is in a dictionary.
    private var first: Int64 = 0
    private var window: ContiguousArray<RowReference?> = []
    private var others: [Int64: RowReference] = [:]

    private static let windowLimit: Int64 = 1 << 24

    var isEmpty: Bool { window.isEmpty && others.isEmpty }

    /// How many there are, or a little more.
    var count: Int { window.count + others.count }

    /// Those whose keys satisfy a condition.
    func filter(_ isKept: (Int64) -> Bool) -> KeyForwarding {
        var kept = KeyForwarding()
        kept.others = others.filter { isKept($0.key) }
        for (index, reference) in window.enumerated() {
            let key = first - Int64(index)
            // The window is for the keys that are still to come.
            if let reference, isKept(key) { kept.others[key] = reference }
        }
        return kept
    }

    mutating func insert(_ reference: RowReference, for temporary: Int64) {
        if window.isEmpty { first = temporary }
        let index = first - temporary
        guard index >= 0, index < min(Int64(window.count) * 2 + 4096, Self.windowLimit) else {
            others[temporary] = reference
            return
        }
        while window.count <= Int(index) { window.append(nil) }
        window[Int(index)] = reference
    }

    subscript(_ temporary: Int64) -> RowReference? {
        let index = first &- temporary
        if index >= 0, index < Int64(window.count), let reference = window[Int(index)] { return reference }
        return others.isEmpty ? nil : others[temporary]
    }
}
