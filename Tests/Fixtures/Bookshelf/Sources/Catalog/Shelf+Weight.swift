extension Shelf {
    /// What all boxes on the shelf weigh.
    public var weight: Int { boxes.reduce(0) { $0 + Int($1.weight) } }
}
