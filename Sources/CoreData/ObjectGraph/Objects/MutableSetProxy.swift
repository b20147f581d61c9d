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

    override func objectEnumerator() -> NSEnumerator { NSArray(array: members.array).objectEnumerator() }

    override func add(_ object: Any) { if let object = object as? NSManagedObject { owner?.addMember(object, to: index) } }

    override func remove(_ object: Any) { if let object = object as? NSManagedObject { owner?.removeMember(object, from: index) } }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: members.array) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members.array) }
}

/// An ordered to-many relationship as an ordered set that changes it.
final class MutableOrderedSetProxy: NSMutableOrderedSet {
    private let owner: NSManagedObject?
    private let index: Int

    init(_ owner: NSManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
        super.init(objects: nil, count: 0)
    }

    override init(objects: UnsafePointer<AnyObject>!, count: Int) {
        (owner, index) = (nil, 0)
        super.init(objects: objects, count: count)
    }

    override required init(capacity: Int) {
        (owner, index) = (nil, 0)
        super.init(objects: nil, count: 0)
    }

    required convenience init?(coder: NSCoder) { nil }
    required convenience init(arrayLiteral elements: Any...) { self.init(objects: nil, count: 0) }

    private var members: [NSManagedObject] { owner?.members(of: index) ?? [] }

    override var count: Int { members.count }
    override func object(at position: Int) -> Any { members[position] }
    override func index(of object: Any) -> Int { members.firstIndex { $0 === object as AnyObject } ?? NSNotFound }

    override func insert(_ object: Any, at position: Int) {
        guard let object = object as? NSManagedObject, !members.contains(where: { $0 === object }) else { return }
        owner?.insertMember(object, to: index, at: position)
    }

    override func removeObject(at position: Int) { owner?.removeMember(members[position], from: index) }

    override func replaceObject(at position: Int, with object: Any) {
        removeObject(at: position)
        insert(object, at: position)
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }
}

extension NSManagedObject {
    /// A to-many relationship as a live set: what is added to it or removed from it changes the relationship, inverses included.
    public final func mutableSetValue(forKey key: String) -> NSMutableSet { MutableSetProxy(self, toManyIndex(key)) }

    /// An ordered to-many relationship as a live ordered set.
    public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { MutableOrderedSetProxy(self, toManyIndex(key)) }
}
