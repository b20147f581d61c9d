import Foundation

/// An ordered to-many relationship as an ordered set that changes it.
///
/// NB: `firstObject`, `lastObject` and iteration of Foundation's class cannot be overridden: they read the superclass' storage. So that
/// mirrors the relationship; every other member brings it up to date first, where the relationship was changed by other means.
final class MutableOrderedSetProxy: NSMutableOrderedSet {
    private let owner: NSManagedObject?
    private let index: Int
    private var mirrored: [NSManagedObject] = []
    /// While the superclass fills its storage, for which it asks what is in it already.
    private var isMirroring = false

    init(_ owner: NSManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
        super.init(capacity: 0)
        update()
    }

    override init(objects: UnsafePointer<AnyObject>!, count: Int) {
        (owner, index) = (nil, 0)
        super.init(objects: objects, count: count)
    }

    override required init(capacity: Int) {
        (owner, index) = (nil, 0)
        super.init(capacity: capacity)
    }

    required convenience init?(coder: NSCoder) { nil }
    required convenience init(arrayLiteral elements: Any...) { self.init(capacity: 0) }

    @discardableResult private func update() -> [NSManagedObject] {
        let members = owner?.members(of: index) ?? []
        if members.elementsEqual(mirrored, by: ===) { return mirrored }
        mirrored = members
        isMirroring = true
        defer { isMirroring = false }
        super.removeAllObjects()
        super.addObjects(from: members)
        return members
    }

    /// Changes the members; the inverses of those that come and go follow.
    private func edit(_ change: (inout [NSManagedObject]) -> Void) {
        var members = update()
        change(&members)
        owner?.setMembers(members, of: index)
        update()
    }

    private func member(_ object: Any) -> NSManagedObject {
        guard let member = object as? NSManagedObject else { misuse("A relationship takes managed objects, not a \(type(of: object)).") }
        return member
    }

    override var count: Int { update().count }
    override func object(at index: Int) -> Any { update()[index] }
    override func contains(_ object: Any) -> Bool { !isMirroring && update().contains { $0 === object as AnyObject } }
    override func index(of object: Any) -> Int { update().firstIndex { $0 === object as AnyObject } ?? NSNotFound }

    override func insert(_ object: Any, at index: Int) {
        if !contains(object) { edit { $0.insert(member(object), at: index) } }
    }

    override func add(_ object: Any) { insert(object, at: count) }
    override func addObjects(from array: [Any]) { edit { members in members += array.map(member) } }
    override func removeObject(at index: Int) { edit { $0.remove(at: index) } }
    override func remove(_ object: Any) { edit { $0.removeAll { $0 === object as AnyObject } } }
    override func removeAllObjects() { edit { $0 = [] } }
    override func replaceObject(at index: Int, with object: Any) { edit { $0[index] = member(object) } }
    override func exchangeObject(at first: Int, withObjectAt second: Int) { edit { $0.swapAt(first, second) } }

    override func moveObjects(at indexes: IndexSet, to index: Int) {
        edit { members in
            let moved = indexes.map { members[$0] }
            for source in indexes.reversed() { members.remove(at: source) }
            members.insert(contentsOf: moved, at: index)
        }
    }

    override func intersect(_ other: NSOrderedSet) { edit { $0.removeAll { !other.contains($0) } } }
    override func intersectSet(_ other: Set<AnyHashable>) { edit { $0.removeAll { !other.contains($0) } } }
    override func sort(using descriptors: [NSSortDescriptor]) { edit { $0.sort { ObjectOrder.precedes($0, $1, descriptors) } } }

    override func sortRange(_ range: NSRange, options: NSSortOptions = [], usingComparator compare: (Any, Any) -> ComparisonResult) {
        guard let range = Range(range) else { return }
        edit { $0[range].sort { compare($0, $1) == .orderedAscending } }
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: update()) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: update()) }
}
