import Foundation

/// How the objects of one version of a model become those of another.
public struct MappingModel: Sendable, Equatable {
    public var entityMappings: [EntityMapping] = []
    /// Where the source of the mapping has its two models, as it says itself; nil for compiled mappings.
    public var sourceModelPath: String?
    public var destinationModelPath: String?

    public init() {}

    /// How the objects of one entity become those of another.
    public struct EntityMapping: Sendable, Equatable {
        public var name = ""
        public var kind = Kind.undefined
        /// Nil for an entity that is added.
        public var sourceEntity: String?
        public var sourceVersionHash: Data?
        /// Nil for an entity that is removed.
        public var destinationEntity: String?
        public var destinationVersionHash: Data?
        public var migrationPolicyClassName: String?
        /// Fetches the source objects.
        public var sourceExpression: Model.Expression?
        public var attributeMappings: [PropertyMapping] = []
        public var relationshipMappings: [PropertyMapping] = []
        public var userInfo: [String: Model.Value] = [:]

        public init() {}
    }

    /// The raw value is the one in compiled files.
    public enum Kind: Int, Sendable {
        /// In the source of a mapping, where entities and policy say what it is.
        case undefined = 0
        case custom = 1
        case add = 2
        case remove = 3
        case copy = 4
        case transform = 5
    }

    /// Where the value of a property comes from.
    public struct PropertyMapping: Sendable, Equatable {
        /// The property of the destination.
        public var name = ""
        /// Nil for a property that gets no value.
        public var expression: Model.Expression?
        /// Whether the expression is the one that follows from the names, and is not written down.
        public var isExpressionGenerated = false
        public var userInfo: [String: Model.Value] = [:]

        public init() {}
    }
}
