extension Model {
    /// What a file says and this module does not know: kept as it is, and written again.
    public struct Extras: Sendable, Equatable {
        public var attributes: [String: String] = [:]
        public var elements: [Element] = []

        public init() {}

        public var isEmpty: Bool { attributes.isEmpty && elements.isEmpty }

        /// An unknown element with everything in it.
        public struct Element: Sendable, Equatable {
            public var name: String
            public var attributes: [String: String]
            /// The characters between the children, without the blanks around them.
            public var text: String
            public var children: [Element]
        }
    }

    /// What the file says and this module does not know, one sentence for each.
    public var unknowns: [String] {
        extras.report("model")
            + entities.flatMap(\.unknowns)
            + composites.flatMap { composite in
                let place = "composite \(composite.name)"
                return composite.extras.report(place) + composite.attributes.flatMap { $0.unknowns(in: place) }
            }
            + configurations.flatMap { $0.extras.report("configuration \($0.name)") }
            + fetchRequests.flatMap { $0.extras.report("fetch request \($0.name)") }
            + layout.flatMap { $0.extras.report("layout of \($0.name)") }
    }
}

extension Model.Entity {
    fileprivate var unknowns: [String] {
        let place = "entity \(name)"
        return extras.report(place)
            + attributes.flatMap { $0.unknowns(in: place) }
            + relationships.flatMap { $0.extras.report("\(place), relationship \($0.name)") }
            + fetchedProperties.flatMap {
                $0.extras.report("\(place), fetched property \($0.name)") + $0.request.extras.report("\(place), request of \($0.name)")
            }
            + indexes.flatMap { index in
                index.extras.report("\(place), index \(index.name)")
                    + index.elements.flatMap { $0.extras.report("\(place), an element of index \(index.name)") }
            }
    }
}

extension Model.Attribute {
    fileprivate func unknowns(in place: String) -> [String] { extras.report("\(place), attribute \(name)") }
}

extension Model.Extras {
    fileprivate func report(_ place: String) -> [String] {
        attributes.sorted { $0.key < $1.key }.map { "\(place): unknown attribute \($0.key)=\"\($0.value)\"" }
            + elements.map { "\(place): unknown element <\($0.name)>" }
    }
}
