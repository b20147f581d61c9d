/// What one object's to-many relationship holds: the unsaved difference to the store, and the whole once it has been read.
final class ToManyContents {
    /// All members, or nil while the store's part has not been read.
    var members: MemberList?
    /// What was put in and taken out since the last save. Empty while the owner itself is new: then everything was put in.
    var added = MemberList()
    var removed = MemberList()
    /// Whether members were put elsewhere than at the end, so that places must be written anew.
    var isReordered = false
    /// The places of the members in the store, by identity; for ordered relationships that have been read.
    var positions: [ObjectIdentifier: Int64] = [:]
    /// Whether the owner has never been saved.
    var ownerIsNew: Bool

    init(ownerIsNew: Bool) {
        self.ownerIsNew = ownerIsNew
        if ownerIsNew { members = MemberList() }
    }

    var hasChanges: Bool { isReordered || !added.isEmpty || !removed.isEmpty || (ownerIsNew && members?.isEmpty == false) }

    /// Adds a member at the end; false where it is known to be in already.
    @discardableResult func add(_ object: NSManagedObject) -> Bool {
        if members?.append(object) == false { return false }
        noteAddition(of: object)
        return true
    }

    func insert(_ object: NSManagedObject, at position: Int) {
        members?.insert(object, at: position)
        isReordered = true
        noteAddition(of: object)
    }

    private func noteAddition(of object: NSManagedObject) {
        if ownerIsNew || removed.remove(object) { return }
        added.append(object)
    }

    /// Takes a member out; false where it is known not to be in.
    @discardableResult func remove(_ object: NSManagedObject) -> Bool {
        if members?.remove(object) == false { return false }
        if ownerIsNew || added.remove(object) { return true }
        removed.append(object)
        return true
    }

    /// Puts the members in another order.
    func reorder(_ objects: [NSManagedObject]) {
        members = MemberList(objects)
        isReordered = true
    }

    /// Takes what the store holds, under the unsaved difference.
    func realize(_ stored: [NSManagedObject]) {
        var members = MemberList()
        for object in stored where !removed.contains(object) { members.append(object) }
        added.forEach { members.append($0) }
        self.members = members
    }

    /// The members as of the last save, where they have been read.
    var committed: [NSManagedObject]? {
        if ownerIsNew { return [] }
        return members.map { $0.array.filter { !added.contains($0) } + removed.array }
    }

    /// The difference is in the store now.
    func didSave() {
        (added, removed) = (MemberList(), MemberList())
        (isReordered, ownerIsNew) = (false, false)
    }
}
