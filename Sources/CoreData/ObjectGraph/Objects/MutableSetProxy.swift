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

    override func add(_ object: Any) {
        guard let object = object as? NSManagedObject else { misuse("A relationship takes managed objects, not \(typeName(object)).") }
        owner?.addMember(object, to: index)
    }

    override func remove(_ object: Any) { if let object = object as? NSManagedObject { owner?.removeMember(object, from: index) } }

    override func removeAllObjects() { owner?.setMembers([], of: index) }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: members.array) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members.array) }

    // NB: Foundation prints what is in the superclass' storage, which is empty, and traps.
    override func description(withLocale locale: Locale?) -> String { description }

    override var description: String {
        let name = owner.map { $0.scope.shape.toManys[index].name } ?? ""
        let members = members.array.map { "    \($0)" }.joined(separator: ",\n")
        return "Relationship '\(name)' on managed object \(owner?.objectID.description ?? "none") {(\n\(members)\n)}"
    }
}

/// Goes through members as they were when it was made.
private final class MemberEnumerator: NSEnumerator {
    private var iterator: MemberList.Iterator

    init(_ members: MemberList) { iterator = members.makeIterator() }

    override func nextObject() -> Any? { iterator.next() }
}

extension NSManagedObject {
    /// A to-many relationship as a live set: what is added to it or removed from it changes the relationship, inverses included.
    ///
    /// Do not cast it to a `Set`: on Linux Foundation makes an empty one of every subclass of `NSSet`. Cast what `value(forKey:)` gives.
    public final func mutableSetValue(forKey key: String) -> NSMutableSet { MutableSetProxy(self, toManyIndex(key)) }

    /// The same for the relationship at the end of a path of to-one relationships. Where one of these is nil, an empty set of nobody's.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        end(of: keyPath).map { $0.object.mutableSetValue(forKey: $0.key) } ?? NSMutableSet()
    }

    /// The same for an ordered relationship.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        end(of: keyPath).map { $0.object.mutableOrderedSetValue(forKey: $0.key) } ?? NSMutableOrderedSet()
    }

    private func end(of keyPath: String) -> (object: NSManagedObject, key: String)? {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        guard let object = value(forKeyPath: String(keyPath[..<dot])) else { return nil }
        guard let object = object as? NSManagedObject else {
            misuse("The path \"\(keyPath)\" leads through a to-many relationship: each of its members has a set of its own.")
        }
        return (object, String(keyPath[keyPath.index(after: dot)...]))
    }

    /// An ordered to-many relationship as a live ordered set.
    public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        let index = toManyIndex(key)
        checkReading()
        if let known = existingContents(index)?.mirror { return known }
        let made = MutableOrderedSetProxy(self, index)
        registeredContext?.tracker.latestOrderedSet = made
        return made
    }
}
