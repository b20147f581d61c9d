import Foundation

/// A to-many relationship as a set that changes it.
final class MutableSetProxy: NSMutableSet {
    private let owner: NSManagedObject?
    private let index: Int

    init(_ owner: NSManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
        super.init(capacity: 0)
    }

    required init(capacity: Int) {
        (owner, index) = (nil, 0)
        super.init(capacity: capacity)
    }

    required convenience init?(coder: NSCoder) { nil }

    private var members: MemberList { owner?.realizedContents(index).members ?? MemberList() }

    override var count: Int { members.count }

    override func member(_ object: Any) -> Any? { (object as? NSManagedObject).flatMap { members.contains($0) ? $0 : nil } }

    override func objectEnumerator() -> NSEnumerator { MemberEnumerator(members) }

    override func add(_ object: Any) { if let object = object as? NSManagedObject { owner?.addMember(object, to: index) } }

    override func remove(_ object: Any) { if let object = object as? NSManagedObject { owner?.removeMember(object, from: index) } }

    override func removeAllObjects() { owner?.setMembers([], of: index) }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: members.array) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members.array) }
}

/// Goes through members as they were when it was made.
private final class MemberEnumerator: NSEnumerator {
    private var iterator: MemberList.Iterator

    init(_ members: MemberList) { iterator = members.makeIterator() }

    override func nextObject() -> Any? { iterator.next() }
}

extension NSManagedObject {
    /// A to-many relationship as a live set: what is added to it or removed from it changes the relationship, inverses included.
    public final func mutableSetValue(forKey key: String) -> NSMutableSet { MutableSetProxy(self, toManyIndex(key)) }

    /// An ordered to-many relationship as a live ordered set.
    public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        let index = toManyIndex(key)
        checkQueue()
        if let known = existingContents(index)?.mirror { return known }
        let made = MutableOrderedSetProxy(self, index)
        registeredContext?.tracker.latestOrderedSet = made
        return made
    }
}
