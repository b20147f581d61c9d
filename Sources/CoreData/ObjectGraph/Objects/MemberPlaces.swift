/// The places that the members of one ordered relationship have in the store, as far as they are known.
///
/// - Complexity: few are searched; many are hashed.
struct MemberPlaces {
    private var list: ContiguousArray<(member: ObjectIdentifier, place: Int64)> = []
    /// Made once the list is too long to search.
    private var byMember: [ObjectIdentifier: Int64]?

    private static let searchLimit = 8

    init() {}

    /// - Precondition: the members are distinct; there are as many places.
    init(_ members: [NSManagedObject], at places: [Int64]) {
        list.reserveCapacity(members.count)
        for (member, place) in zip(members, places) { list.append((ObjectIdentifier(member), place)) }
        if list.count > Self.searchLimit { byMember = Dictionary(list.map { ($0.member, $0.place) }, uniquingKeysWith: { $1 }) }
    }

    /// The places that the members of a new list get.
    init(ofNew members: MemberList) {
        let members = members.array
        self.init(members, at: OrderKeys.places(forNew: members.count))
    }

    var isEmpty: Bool { list.isEmpty }

    subscript(_ member: NSManagedObject) -> Int64? {
        let member = ObjectIdentifier(member)
        if let byMember { return byMember[member] }
        return list.first { $0.member == member }?.place
    }
}
