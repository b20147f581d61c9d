/// Something without an order of its own, which is sorted by a value that stands for it: an object by its key, an entity by its name.
public protocol SortStandIn {
    var sortValue: Any? { get }
}

extension Value {
    /// The value that decides where this one comes in an order.
    var sortable: Value {
        if case .object(let object) = self, let standIn = object as? any SortStandIn { Value(standIn.sortValue) } else { self }
    }
}
