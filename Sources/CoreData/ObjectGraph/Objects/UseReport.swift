/// Tells a store which of its objects a context has.
struct UseReport {
    private let home: StoreIdentity

    /// Nil where the store does not want to know.
    init?(_ store: (any RowStore)?) {
        guard let store, store.followsUse, let home = store.home else { return nil }
        self.home = home
    }

    private var store: (any RowStore)? { home.store as? any RowStore }

    /// The context has these now; those without permanent keys do not count.
    func begin(_ objects: some Sequence<NSManagedObject>) {
        let ids = objects.filter { $0.key > 0 }.map(Self.id)
        if !ids.isEmpty { store?.contextDidBegin(using: ids) }
    }

    /// The context no longer has this one, which may be about to go.
    func end(_ object: NSManagedObject) { store?.contextDidEnd(using: [Self.id(object)]) }

    func end(_ objects: [NSManagedObject]) { if !objects.isEmpty { store?.contextDidEnd(using: objects.map(Self.id)) } }

    /// Not the object's own ID, which would be kept with it.
    private static func id(_ object: NSManagedObject) -> NSManagedObjectID {
        NSManagedObjectID(RowIdentity(object.rowReference, in: object.scope.ids(temporary: false)))
    }
}
