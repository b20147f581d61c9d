/// The objects of an ordered to-many relationship: a list that is the relationship itself while it is changed in place.
///
/// As a property's type it makes `album.tracks.append(track)` cost what `add(_:to:)` costs, and `album.tracks.count` copies nothing:
///
/// ```swift
/// var tracks: RelatedList<Track> {
///     get { self[Album.tracksKey] }
///     _modify { yield &self[Album.tracksKey] }
/// }
/// ```
///
/// It is a value: one that was read stays as it is, and changing it changes no relationship. `Array(album.tracks)` makes a plain array of it.
///
/// - Complexity: `append`, `count` and `contains` are O(1), `insert`, `remove`, `firstIndex(of:)` and reading by index O(log n). What puts
///   members in another order (`sort`, `swapAt`) is O(n), and so is the first change where a copy is about.
public struct RelatedList<Target: NSManagedObject>: RelatedCollection {
    private(set) var access: RelationshipAccess?
    private var list = MemberList()
    /// In place of the list, once an object may be in twice for a while, as it is in the midst of a sort.
    private var array: [NSManagedObject]?

    public init() {}
    init(_ access: RelationshipAccess) { self.access = access }
    init(_ list: MemberList) { self.list = list }

    private var members: MemberList { access?.members ?? list }
    var objects: [NSManagedObject] { array ?? members.array }

    /// The relationship, where it is this value alone that changes it.
    private var liveAccess: RelationshipAccess? {
        mutating get { isKnownUniquelyReferenced(&access) ? access : nil }
    }

    /// The members become the value's own.
    private mutating func detach(_ change: (inout [NSManagedObject]) -> Void) {
        var objects = objects
        if access != nil { access?.snapshot = members }
        (access, list, array) = (nil, MemberList(), nil)
        change(&objects)
        array = objects
    }
}

extension RelatedList: RandomAccessCollection, MutableCollection, RangeReplaceableCollection, ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Target...) { self.init(elements) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { array?.count ?? members.count }

    public subscript(index: Int) -> Target {
        get { Self.target(array?[index] ?? members[index]) }
        set {
            if array == nil, members[index] === newValue { return }
            if array == nil, !members.contains(newValue), let access = liveAccess {
                access.owner.replaceMember(at: index, with: newValue, of: access.index)
            } else {
                detach { $0[index] = newValue }
            }
        }
    }

    public mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<Target>) {
        if array == nil, isNew(new), let access = liveAccess {
            for index in range.reversed() { access.owner.removeMember(members[index], from: access.index) }
            for (offset, object) in new.enumerated() {
                access.owner.insertMember(object, to: access.index, at: range.lowerBound + offset)
            }
        } else {
            detach { $0.replaceSubrange(range, with: new.map { $0 }) }
        }
    }

    /// Whether none of the objects is in already, nor twice among them.
    private func isNew(_ objects: some Collection<Target>) -> Bool {
        objects.allSatisfy { !members.contains($0) } && (objects.count < 2 || MemberList(objects.map { $0 }).count == objects.count)
    }

    public struct Iterator: IteratorProtocol {
        fileprivate var members: MemberList.Iterator
        fileprivate var array: IndexingIterator<[NSManagedObject]>?
        public mutating func next() -> Target? { (array == nil ? members.next() : array?.next()).map(RelatedList.target) }
    }

    public func makeIterator() -> Iterator { Iterator(members: members.makeIterator(), array: array?.makeIterator()) }

    private static func target(_ object: NSManagedObject) -> Target { object.target(object) }
}

extension RelatedList: Equatable {
    public func contains(_ object: Target) -> Bool { array?.contains { $0 === object } ?? members.contains(object) }

    public func firstIndex(of object: Target) -> Int? {
        guard let array else { return members.index(of: object) }
        return array.firstIndex { $0 === object }
    }

    /// Takes out one object; nothing where it is not in.
    public mutating func remove(_ object: Target) { firstIndex(of: object).map { _ = remove(at: $0) } }

    public static func == (one: RelatedList, other: RelatedList) -> Bool { one.elementsEqual(other) }
    @_disfavoredOverload
    public static func == (one: RelatedList, other: [Target]) -> Bool { one.elementsEqual(other) }
    @_disfavoredOverload
    public static func == (one: [Target], other: RelatedList) -> Bool { other == one }
}

extension NSManagedObject {
    /// The objects of an ordered to-many relationship, for a property of this type; changed in place, they change one by one.
    ///
    /// - Precondition: the entity has an ordered to-many relationship of that name; new values are distinct and in the same context.
    /// - Complexity: O(1); one statement where the relationship has not been read yet.
    @_disfavoredOverload
    public final subscript<Target: NSManagedObject>(relationship: OrderedToMany<Target>) -> RelatedList<Target> {
        get { self[members: toManyIndex(relationship.name)] }
        set { self[members: toManyIndex(relationship.name)] = newValue }
        _modify { yield &self[members: toManyIndex(relationship.name)] }
    }
}
