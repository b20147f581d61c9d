import Foundation

/// The permanent keys of the objects that a save inserts, by their temporary ones.
struct KeyForwarding {
    // Temporary keys of one save mostly follow each other, downwards: a window is an array; what lies far off is in a dictionary.
    private var first: Int64 = 0
    private var window: ContiguousArray<RowReference?> = []
    private var others: [Int64: RowReference] = [:]

    private static let windowLimit: Int64 = 1 << 24

    var isEmpty: Bool { window.isEmpty && others.isEmpty }

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
