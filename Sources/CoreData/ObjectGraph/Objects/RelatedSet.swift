/// The objects of a to-many relationship: a set that is the relationship itself while it is changed in place.
///
/// As a property's type it makes `artist.songs.insert(song)` cost what `add(_:to:)` costs, and `artist.songs.count` copies nothing:
///
/// ```swift
/// var songs: RelatedSet<Song> {
///     get { self[Artist.songsKey] }
///     _modify { yield &self[Artist.songsKey] }
/// }
/// ```
///
/// It is a value: one that was read stays as it is, and changing it changes no relationship. `Set(artist.songs)` makes a plain set of it.
///
/// - Complexity: `insert`, `remove`, `contains` and `count` are O(1); where a copy is about, the first change of either is O(n).
public struct RelatedSet<Target: NSManagedObject>: RelatedCollection {
    private(set) var access: RelationshipAccess?
    private var list = MemberList()

    public init() {}
    init(_ access: RelationshipAccess) { self.access = access }
    init(_ list: MemberList) { self.list = list }
    public init(_ objects: some Sequence<Target>) { for object in objects { list.append(object) } }

    var members: MemberList { access?.members ?? list }
    var objects: [NSManagedObject] { members.array }

    /// The relationship, where it is this value alone that changes it; else the members become the value's own.
    private var liveAccess: RelationshipAccess? {
        mutating get {
            guard access != nil else { return nil }
            if isKnownUniquelyReferenced(&access) { return access }
            list = members
            access?.snapshot = list
            access = nil
            return nil
        }
    }
}

extension RelatedSet: Collection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public var count: Int { members.count }
    public func index(after index: Int) -> Int { index + 1 }
    public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
    public func distance(from start: Int, to end: Int) -> Int { end - start }
    public subscript(index: Int) -> Target { Self.target(members[index]) }

    public struct Iterator: IteratorProtocol {
        fileprivate var members: MemberList.Iterator
        public mutating func next() -> Target? {
            guard let object = members.next() else { return nil }
            return RelatedSet.target(object)
        }
    }

    public func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }

    private static func target(_ object: NSManagedObject) -> Target { object.target(object) }
}

extension RelatedSet: SetAlgebra {
    public typealias Element = Target

    public init(arrayLiteral elements: Target...) { self.init(elements) }
    public var isEmpty: Bool { members.isEmpty }
    public func contains(_ object: Target) -> Bool { members.contains(object) }

    @discardableResult public mutating func insert(_ object: Target) -> (inserted: Bool, memberAfterInsert: Target) {
        if contains(object) { return (false, object) }
        if let access = liveAccess { access.owner.addMember(object, to: access.index) } else { list.append(object) }
        return (true, object)
    }

    @discardableResult public mutating func remove(_ object: Target) -> Target? {
        guard contains(object) else { return nil }
        if let access = liveAccess { access.owner.removeMember(object, from: access.index) } else { list.remove(object) }
        return object
    }

    @discardableResult public mutating func update(with object: Target) -> Target? { insert(object).inserted ? nil : object }

    public mutating func formUnion(_ other: some Sequence<Target>) { for object in other { insert(object) } }
    public mutating func subtract(_ other: some Sequence<Target>) { for object in other { remove(object) } }
    public mutating func formUnion(_ other: RelatedSet) { for object in other { insert(object) } }
    public mutating func subtract(_ other: RelatedSet) { for object in other { remove(object) } }
    public mutating func formIntersection(_ other: RelatedSet) { for object in self where !other.contains(object) { remove(object) } }

    public mutating func formSymmetricDifference(_ other: RelatedSet) {
        for object in other where remove(object) == nil { insert(object) }
    }

    /// Takes out all objects that satisfy a condition.
    public mutating func removeAll(where isOut: (Target) throws -> Bool) rethrows { try filter(isOut).forEach { remove($0) } }
    public mutating func removeAll() { for object in self { remove(object) } }

    public func union(_ other: RelatedSet) -> RelatedSet { with { $0.formUnion(other) } }
    public func intersection(_ other: RelatedSet) -> RelatedSet { with { $0.formIntersection(other) } }
    public func symmetricDifference(_ other: RelatedSet) -> RelatedSet { with { $0.formSymmetricDifference(other) } }

    private func with(_ change: (inout RelatedSet) -> Void) -> RelatedSet {
        var copy = RelatedSet(members)
        change(&copy)
        return copy
    }

    public static func == (one: RelatedSet, other: RelatedSet) -> Bool { one.count == other.count && one.allSatisfy(other.contains) }
    @_disfavoredOverload
    public static func == (one: RelatedSet, other: Set<Target>) -> Bool { one.count == other.count && one.allSatisfy(other.contains) }
    @_disfavoredOverload
    public static func == (one: Set<Target>, other: RelatedSet) -> Bool { other == one }
}

extension NSManagedObject {
    /// The objects of a to-many relationship, for a property of this type; changed in place, they change one by one.
    ///
    /// - Precondition: the entity has a to-many relationship of that name; new values are in the same context.
    /// - Complexity: O(1); one statement where the relationship has not been read yet.
    @_disfavoredOverload
    public final subscript<Target: NSManagedObject>(relationship: ToMany<Target>) -> RelatedSet<Target> {
        get { self[members: toManyIndex(relationship.name)] }
        set { self[members: toManyIndex(relationship.name)] = newValue }
        _modify { yield &self[members: toManyIndex(relationship.name)] }
    }
}
