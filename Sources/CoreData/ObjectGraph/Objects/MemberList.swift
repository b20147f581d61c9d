/// Distinct objects in order: the contents of a to-many relationship, held strongly.
///
/// Appending, removing and asking for one are O(1) amortised; inserting in the middle is O(n). Most relationships hold one or two objects:
/// these need no memory of their own.
struct MemberList {
    private var first: NSManagedObject?
    private var second: NSManagedObject?
    /// The slots from the third on.
    private var rest: ContiguousArray<NSManagedObject?> = []
    /// In which slot each object stands; made once the list is too long to search.
    private var slots: [ObjectIdentifier: Int]?
    /// The number of slots in use, with those that an object was taken out of.
    private var end: Int32 = 0
    private var holes: Int32 = 0

    private static let searchLimit = 8

    init() {}

    init(_ objects: some Sequence<NSManagedObject>) {
        for object in objects { append(object) }
    }

    var count: Int { Int(end - holes) }
    var isEmpty: Bool { end == holes }

    var array: [NSManagedObject] {
        var array: [NSManagedObject] = []
        array.reserveCapacity(count)
        forEach { array.append($0) }
        return array
    }

    var firstMember: NSManagedObject? { first ?? second ?? rest.lazy.compactMap { $0 }.first }

    func contains(_ object: NSManagedObject) -> Bool { slot(of: object) != nil }

    private func slot(of object: NSManagedObject) -> Int? {
        if let slots { return slots[ObjectIdentifier(object)] }
        if first === object { return 0 }
        if second === object { return 1 }
        return rest.isEmpty ? nil : rest.firstIndex { $0 === object }.map { $0 + 2 }
    }

    /// Adds at the end; false where the object is already there.
    @discardableResult mutating func append(_ object: NSManagedObject) -> Bool {
        if contains(object) { return false }
        switch end {
        case 0: first = object
        case 1: second = object
        default: rest.append(object)
        }
        end += 1
        if slots != nil { slots?[ObjectIdentifier(object)] = Int(end) - 1 } else if end > Self.searchLimit { index() }
        return true
    }

    /// Takes the object out; false where it is not there.
    @discardableResult mutating func remove(_ object: NSManagedObject) -> Bool {
        guard let slot = slot(of: object) else { return false }
        switch slot {
        case 0: first = nil
        case 1: second = nil
        default: rest[slot - 2] = nil
        }
        holes += 1
        slots?[ObjectIdentifier(object)] = nil
        if isEmpty || Int(holes) > count + Self.searchLimit { self = MemberList(array) }
        return true
    }

    /// Puts the object, which is not in the list, before the one at `index`.
    mutating func insert(_ object: NSManagedObject, at index: Int) {
        var objects = array
        objects.insert(object, at: index)
        self = MemberList(objects)
    }

    private mutating func index() {
        var slots: [ObjectIdentifier: Int] = Dictionary(minimumCapacity: Int(end))
        if let first { slots[ObjectIdentifier(first)] = 0 }
        if let second { slots[ObjectIdentifier(second)] = 1 }
        for (index, object) in rest.enumerated() { if let object { slots[ObjectIdentifier(object)] = index + 2 } }
        self.slots = slots
    }

    @inline(__always) func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
        if let first { try body(first) }
        if let second { try body(second) }
        for object in rest { if let object { try body(object) } }
    }
}
