/// Distinct objects in order: the contents of a to-many relationship, held strongly.
///
/// Appending, removing and asking for one are O(1) amortised; inserting in the middle is O(n).
struct MemberList {
    private var slots: ContiguousArray<NSManagedObject?> = []
    /// Where each object stands; made once the list is too long to search.
    private var places: [ObjectIdentifier: Int]?
    private(set) var count = 0

    private static let searchLimit = 8

    init() {}

    init(_ objects: some Sequence<NSManagedObject>) {
        for object in objects { append(object) }
    }

    var isEmpty: Bool { count == 0 }

    var array: [NSManagedObject] { slots.compactMap { $0 } }

    func contains(_ object: NSManagedObject) -> Bool { place(of: object) != nil }

    private func place(of object: NSManagedObject) -> Int? {
        if let places { return places[ObjectIdentifier(object)] }
        return slots.firstIndex { $0 === object }
    }

    /// Adds at the end; false where the object is already there.
    @discardableResult mutating func append(_ object: NSManagedObject) -> Bool {
        if contains(object) { return false }
        slots.append(object)
        count += 1
        if places != nil {
            places?[ObjectIdentifier(object)] = slots.count - 1
        } else if slots.count > Self.searchLimit {
            index()
        }
        return true
    }

    /// Takes the object out; false where it is not there.
    @discardableResult mutating func remove(_ object: NSManagedObject) -> Bool {
        guard let place = place(of: object) else { return false }
        slots[place] = nil
        count -= 1
        places?[ObjectIdentifier(object)] = nil
        if slots.count > 2 * count + Self.searchLimit { compact() }
        return true
    }

    /// Puts the object, which is not in the list, before the one at `position`.
    mutating func insert(_ object: NSManagedObject, at position: Int) {
        compact()
        slots.insert(object, at: position)
        count += 1
        if places != nil || slots.count > Self.searchLimit { index() }
    }

    private mutating func compact() {
        if slots.count != count { slots = ContiguousArray(slots.compactMap { $0 }) }
        if places != nil { index() }
    }

    private mutating func index() {
        places = Dictionary(minimumCapacity: slots.count)
        for (place, object) in slots.enumerated() { if let object { places?[ObjectIdentifier(object)] = place } }
    }

    func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
        for object in slots { if let object { try body(object) } }
    }
}
