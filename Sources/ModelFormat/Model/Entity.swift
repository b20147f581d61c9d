extension Model {
    /// A kind of object: its class, its properties and its place in a tree of entities.
    public struct Entity: Sendable, Equatable {
        public var name = ""
        /// The class as the file spells it: a leading dot stands for the module that the model is compiled into. Nil for `NSManagedObject`.
        public var className: String?
        /// The name of the entity that this one inherits from.
        public var parent: String?
        public var isAbstract = false
        public var codeGeneration = CodeGeneration.manual
        /// The name that an older version of the model used.
        public var renamingIdentifier: String?
        public var versionHashModifier: String?
        public var isSyncable: Bool?
        public var isSpotlightIndexed: Bool?
        /// The text under which Spotlight shows an object.
        public var spotlightDisplayName: String?

        /// The attributes declared here, without those of the parent; the same holds for all that follows.
        public var attributes: [Attribute] = []
        public var relationships: [Relationship] = []
        public var fetchedProperties: [FetchedProperty] = []
        public var indexes: [FetchIndex] = []
        /// The old form of indexes: names of properties.
        public var compoundIndexes: [[String]] = []
        /// Groups of properties, by name, whose values together differ between any two objects.
        public var uniquenessConstraints: [[String]] = []
        public var userInfo: [String: Value] = [:]
        public var extras = Extras()

        public init() {}

        /// Which Swift source is made for the entity.
        public enum CodeGeneration: String, Sendable {
            case manual
            /// The class with its properties.
            case `class`
            /// An extension with the properties; the class is written by hand.
            case category
        }

        /// The class's name without the leading dot.
        public var plainClassName: String? { className.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 } }
    }
}
