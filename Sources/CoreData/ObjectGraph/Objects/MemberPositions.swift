/// The positions that the members of one ordered relationship have in the store, as far as they are known.
///
/// - Complexity: few are searched; many are hashed.
struct MemberPositions {
    private var list: ContiguousArray<(member: ObjectIdentifier, position: Int64)> = []
    /// In place of the list, once there are too many to search.
    private var byMember: [ObjectIdentifier: Int64]?

    private static let searchLimit = 8

    init() {}

    /// - Precondition: the members are distinct; there are as many positions.
    init(_ members: some Collection<NSManagedObject>, at positions: some Collection<Int64>) {
        if members.count > Self.searchLimit { byMember = Dictionary(minimumCapacity: members.count) }
        for (member, position) in zip(members, positions) { self[member] = position }
    }

    /// The positions that the first members of a new list got.
    init(ofNew members: MemberList, count: Int) {
        if count > Self.searchLimit { byMember = Dictionary(minimumCapacity: count) }
        for (index, member) in members.enumerated().prefix(count) { self[member] = OrderKeys.position(ofNew: index) }
    }

    var isEmpty: Bool { byMember?.isEmpty ?? list.isEmpty }

    subscript(_ member: NSManagedObject) -> Int64? {
        get {
            let member = ObjectIdentifier(member)
            if let byMember { return byMember[member] }
            return list.first { $0.member == member }?.position
        }
        set {
            let member = ObjectIdentifier(member)
            if byMember != nil {
                byMember?[member] = newValue
            } else {
                list.removeAll { $0.member == member }
                if let newValue { list.append((member, newValue)) }
                if list.count > Self.searchLimit { hash() }
            }
        }
    }

    private mutating func hash() {
        byMember = Dictionary(uniqueKeysWithValues: list.map { ($0.member, $0.position) })
        list = []
    }
}
