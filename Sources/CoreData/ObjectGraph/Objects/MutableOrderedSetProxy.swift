import Foundation

/// An ordered to-many relationship as an ordered set that changes it.
///
/// NB: `firstObject`, `lastObject` and iteration of Foundation's class cannot be overridden: they read the superclass' storage. So that
/// mirrors the members: the relationship tells of each change. There is one of these for a relationship, kept until the next save once it
/// has changed something, or making it anew for each change would go through all members.
final class MutableOrderedSetProxy: NSMutableOrderedSet {
    private let owner: NSManagedObject?
    private let index: Int
    /// What the superclass' storage mirrors; nil where it does not.
    private var mirrored: ToManyContents?
    private var mirroredCount = 0
    /// How many members were put into the superclass' storage so far.
    private(set) var mirroringCount = 0
    /// While the superclass changes its storage, for which it asks what is in it.
    private var isMirroring = false
    /// Whether the context's tracker keeps this.
    var isKept = false

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

    /// Lets the storage mirror the members.
    private func update() {
        guard let owner else { return }
        let contents = owner.realizedContents(index)
        if mirrored !== contents { mirror(contents) }
    }

    /// The members, which the storage mirrors.
    private var members: MemberList {
        update()
        return mirrored?.members ?? MemberList()
    }

    /// Changes the members through their owner; the inverses of those that come and go follow.
    private func edit(_ change: (NSManagedObject) -> Void) {
        guard let owner else { return }
        update()
        change(owner)
        if !isKept, !owner.state.isDisjoint(with: .pending) { owner.registeredContext?.tracker.keep(self) }
    }

    /// Changes all members at once.
    private func editAll(_ change: (inout [NSManagedObject]) -> Void) {
        edit { owner in
            var members = owner.members(of: index)
            change(&members)
            owner.setMembers(members, of: index)
        }
    }

    private func member(_ object: Any) -> NSManagedObject {
        guard let member = object as? NSManagedObject else { misuse("A relationship takes managed objects, not \(typeName(object)).") }
        return member
    }

    override var count: Int { isMirroring ? mirroredCount : members.count }
    override func object(at index: Int) -> Any { isMirroring ? super.object(at: index) : members[index] }
    override func contains(_ object: Any) -> Bool { !isMirroring && (object as? NSManagedObject).map { members.contains($0) } == true }
    override func index(of object: Any) -> Int { (object as? NSManagedObject).flatMap { members.index(of: $0) } ?? NSNotFound }

    override func insert(_ object: Any, at index: Int) {
        if !contains(object) { edit { $0.insertMember(member(object), to: self.index, at: index) } }
    }

    override func add(_ object: Any) { edit { $0.addMember(member(object), to: index) } }
    override func addObjects(from array: [Any]) { array.forEach(add) }
    override func add(_ objects: UnsafePointer<AnyObject>?, count: Int) { UnsafeBufferPointer(start: objects, count: count).forEach(add) }
    override func removeObject(at index: Int) { edit { $0.removeMember(members[index], from: self.index) } }
    override func remove(_ object: Any) { if contains(object) { edit { $0.removeMember(member(object), from: index) } } }
    override func removeAllObjects() { editAll { $0 = [] } }

    override func replaceObject(at index: Int, with object: Any) {
        edit { $0.replaceMember(at: index, with: member(object), of: self.index) }
    }

    override func exchangeObject(at first: Int, withObjectAt second: Int) {
        let (low, high) = first < second ? (first, second) : (second, first)
        edit { owner in
            let (one, other) = (members[low], members[high])
            owner.moveMember(other, of: index, to: low)
            owner.moveMember(one, of: index, to: high)
        }
    }

    override func moveObjects(at indexes: IndexSet, to index: Int) {
        edit { owner in
            let moved = indexes.map { members[$0] }
            // First out of the way, then one after the other to where they go.
            for member in moved { owner.moveMember(member, of: self.index, to: members.count - 1) }
            for (offset, member) in moved.enumerated() { owner.moveMember(member, of: self.index, to: index + offset) }
        }
    }

    override func intersect(_ other: NSOrderedSet) { editAll { $0.removeAll { !other.contains($0) } } }
    override func intersectSet(_ other: Set<AnyHashable>) { editAll { $0.removeAll { !other.contains($0) } } }
    override func sort(using descriptors: [NSSortDescriptor]) { editAll { $0.sort { ObjectOrder.precedes($0, $1, descriptors) } } }

    override func sortRange(_ range: NSRange, options: NSSortOptions = [], usingComparator compare: (Any, Any) -> ComparisonResult) {
        guard let range = Range(range) else { return }
        editAll { $0[range].sort { compare($0, $1) == .orderedAscending } }
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members.array) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members.array) }
}

/// The superclass' storage follows the relationship.
extension MutableOrderedSetProxy {
    /// Takes all members.
    func mirror(_ contents: ToManyContents) {
        let former = contents.mirror
        if former !== self {
            former?.membersAreUnknown()
            contents.mirror = self
        }
        mirrored = contents
        mirroredCount = 0
        change { super.removeAllObjects() }
        contents.members?.forEach(didAppend)
    }

    /// Shows objects until the next question, which brings it up to date.
    func show(_ objects: [NSManagedObject]) {
        change {
            super.removeAllObjects()
            for object in objects { super.add(object) }
        }
        mirroredCount = objects.count
        mirrored = nil
    }

    /// What is mirrored is no longer right; the next question brings it up to date.
    func membersAreUnknown() { mirrored = nil }

    func didAppend(_ object: NSManagedObject) {
        guard mirrored != nil else { return }
        change { super.add(object) }
        mirroredCount += 1
        mirroringCount += 1
    }

    func didInsert(_ object: NSManagedObject, at index: Int) {
        guard mirrored != nil else { return }
        change { super.insert(object, at: index) }
        mirroredCount += 1
        mirroringCount += 1
    }

    func didRemove(at index: Int) {
        guard mirrored != nil else { return }
        change { super.removeObject(at: index) }
        mirroredCount -= 1
    }

    private func change(_ body: () -> Void) {
        isMirroring = true
        defer { isMirroring = false }
        body()
    }
}
