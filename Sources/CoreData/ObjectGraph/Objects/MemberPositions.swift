/// The positions that the members of one ordered relationship have in the store, as far as they are known.
///
/// - Complexity: few are searched; many are hashed.
struct MemberPositions {
    private var list: ContiguousArray<(member: ObjectIdentifier, position: Int64)> = []
    /// Made once the list is too long to search.
    private var byMember: [ObjectIdentifier: Int64]?

    private static let searchLimit = 8

    init() {}

    /// - Precondition: the members are distinct; there are as many positions.
    init(_ members: [NSManagedObject], at positions: [Int64]) {
        list.reserveCapacity(members.count)
        for (member, position) in zip(members, positions) { list.append((ObjectIdentifier(member), position)) }
        if list.count > Self.searchLimit { byMember = Dictionary(list.map { ($0.member, $0.position) }, uniquingKeysWith: { $1 }) }
    }

    /// The positions that the members of a new list get.
    init(ofNew members: MemberList) {
        let members = members.array
        self.init(members, at: OrderKeys.positions(forNew: members.count))
    }

    var isEmpty: Bool { list.isEmpty }

    subscript(_ member: NSManagedObject) -> Int64? {
        let member = ObjectIdentifier(member)
        if let byMember { return byMember[member] }
        return list.first { $0.member == member }?.position
    }
}
