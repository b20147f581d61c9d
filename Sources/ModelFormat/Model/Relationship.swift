extension Model {
    /// References from the objects of one entity to those of another.
    public struct Relationship: Sendable, Equatable {
        public var name = ""
        public var isOptional = false
        public var isTransient = false
        public var isIndexed = false
        public var isOrdered = false
        public var minCount = 0
        /// The most objects allowed: 1 makes a to-one relationship, 0 and `Int.max` set no limit.
        public var maxCount = 1
        public var deleteRule = DeleteRule.nullify
        /// The name of the entity at the other end. An unfinished model may have none.
        public var destination: String?
        /// The name of the relationship of the destination that leads back.
        public var inverse: String?
        /// The entity that declares the inverse, as the source says it.
        public var inverseEntity: String?
        /// The name that an older version of the model used.
        public var renamingIdentifier: String?
        public var versionHashModifier: String?
        public var isSyncable: Bool?
        public var isSpotlightIndexed: Bool?
        public var isStoredInTruthFile: Bool?
        public var userInfo: [String: Value] = [:]
        public var extras = Extras()

        public init() {}

        public var isToMany: Bool { maxCount != 1 }

        /// What deleting an object does to those at the other end; the raw value is the one in compiled files.
        public enum DeleteRule: Int, Sendable, CaseIterable {
            case noAction = 0
            case nullify = 1
            case cascade = 2
            case deny = 3
        }
    }
}
