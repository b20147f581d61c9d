import ModelFormat

/// What leads from one version of a model to another.
public struct ModelDifference: Sendable, Equatable, Codable {
    /// What a migration does by itself, or what needs none.
    public var steps: [Step] = []
    /// What no mapping can be inferred for.
    public var obstacles: [Step] = []

    /// Whether a lightweight migration leads there.
    public var isLightweight: Bool { obstacles.isEmpty }
    public var isEmpty: Bool { steps.isEmpty && obstacles.isEmpty }

    /// One difference.
    public struct Step: Sendable, Equatable, Codable {
        /// The names of the entity and the property, with a dot between them; the new ones where there are new ones.
        public let place: String
        /// What happens, or why it cannot: a sentence without its subject and full stop.
        public let text: String

        /// The place and the text, as a sentence without its full stop.
        public var sentence: String { "\(place) \(text)" }
    }

    mutating func step(_ place: String, _ text: String) { steps.append(Step(place: place, text: text)) }

    mutating func obstacle(_ place: String, _ text: String) {
        let step = Step(place: place, text: text)
        if !obstacles.contains(step) { obstacles.append(step) }
    }
}

/// What a lightweight migration from `old` to `new` would do, and what it could not do.
///
/// Things go together that have the same name, or of which the newer one's renaming identifier is the name or identifier of the older one.
/// The rules are those of Core Data's inferred mapping models; the data in a store are not looked at.
public func difference(from old: Model, to new: Model) -> ModelDifference {
    DifferenceFinder(ModelPairing(old, new)).difference()
}

extension ModelPairing {
    /// What a lightweight migration would do, and what it could not do.
    package var difference: ModelDifference { DifferenceFinder(self).difference() }
}
