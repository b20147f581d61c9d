extension Model {
    /// A fetch that the model knows by name, or that a fetched property runs.
    public struct FetchRequest: Sendable, Equatable {
        public var name = ""
        /// The name of the entity to fetch.
        public var entity: String?
        /// Which objects; nil for all.
        public var predicate: Predicate?
        public var sortDescriptors: [SortDescriptor] = []
        public var fetchLimit = 0
        public var fetchOffset = 0
        public var fetchBatchSize = 0
        public var options = Options.standard
        /// The raw value of the result type: 0 objects, 1 object IDs, 2 dictionaries, 4 a count.
        public var resultType = 0
        public var prefetchedKeyPaths: [String] = []
        public var extras = Extras()

        public init() {}

        /// What a fetch includes; the raw value is the one in compiled files.
        public struct Options: OptionSet, Sendable {
            public let rawValue: Int
            public init(rawValue: Int) { self.rawValue = rawValue }

            public static let returnsDistinctResults = Options(rawValue: 1)
            public static let includesSubentities = Options(rawValue: 2)
            public static let includesPropertyValues = Options(rawValue: 4)
            public static let returnsObjectsAsFaults = Options(rawValue: 8)
            public static let includesPendingChanges = Options(rawValue: 16)

            /// Those of a new fetch request: all but distinct results.
            public static let standard = Options(rawValue: 30)
        }
    }

    /// A key path to sort by.
    public struct SortDescriptor: Sendable, Equatable {
        public var key: String?
        public var isAscending = true
        /// The name of the comparing method.
        public var selector: String?

        public init() {}
    }

    /// A property whose value is the result of a fetch.
    public struct FetchedProperty: Sendable, Equatable {
        public var name = ""
        public var isOptional = false
        public var request = FetchRequest()
        /// The name that an older version of the model used.
        public var renamingIdentifier: String?
        public var versionHashModifier: String?
        public var isSyncable: Bool?
        public var userInfo: [String: Value] = [:]
        public var extras = Extras()

        public init() {}
    }
}
