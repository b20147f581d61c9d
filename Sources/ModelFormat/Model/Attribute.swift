extension Model {
    /// A value that each object of an entity has.
    public struct Attribute: Sendable, Equatable {
        public var name = ""
        public var type = ValueType.undefined
        public var isOptional = false
        public var isTransient = false
        /// The old form of an index over this attribute.
        public var isIndexed = false
        /// The value of a new object. A text of the source that is no value of the type stays a text.
        public var defaultValue: Value?
        /// The smallest value, or the smallest length of a text.
        public var minimum: Value?
        /// The largest value, or the largest length of a text.
        public var maximum: Value?
        /// A regular expression that a text must match.
        public var pattern: String?
        /// Conditions that `minimum`, `maximum` and `pattern` cannot say; in compiled files only.
        public var validations: [Validation] = []
        /// Whether generated code uses a type like `Int64` or `Bool`, not an object.
        public var usesScalarValueType: Bool?
        public var valueTransformerName: String?
        /// The class of the values in generated code; in the source, and in files that were compiled here.
        public var customClassName: String?
        /// The class of the values, where it is not the one that the type has; in compiled files only.
        public var valueClassName: String?
        /// The name of the composite, for an attribute of that type.
        public var composite: String?
        public var allowsExternalBinaryDataStorage = false
        public var preservesValueInHistoryOnDeletion = false
        public var allowsCloudEncryption = false
        /// What the value is computed from; nil for a value that is set.
        public var derivation: Expression?
        /// A condition on the objects that a derivation counts.
        public var derivationFilter: Predicate?
        public var isSpotlightIndexed: Bool?
        public var isStoredInTruthFile: Bool?
        /// The name that an older version of the model used.
        public var renamingIdentifier: String?
        public var versionHashModifier: String?
        public var isSyncable: Bool?
        /// How the editor shows dates: `defaultValueString`, `minValueString` or `maxValueString` → text. The values are elsewhere.
        public var dateTexts: [String: String] = [:]
        public var userInfo: [String: Value] = [:]
        public var extras = Extras()

        public init() {}

        /// A condition that a value must satisfy.
        public struct Validation: Sendable, Equatable {
            public var predicate: Predicate
            /// A text, or an error code as text.
            public var warning: String

            public init(_ predicate: Predicate, warning: String) {
                self.predicate = predicate
                self.warning = warning
            }
        }
    }

    /// The type of an attribute's values; the raw value is the one in compiled files.
    public enum ValueType: Int, Sendable, CaseIterable {
        case undefined = 0
        case integer16 = 100
        case integer32 = 200
        case integer64 = 300
        case decimal = 400
        case double = 500
        case float = 600
        case string = 700
        case boolean = 800
        case date = 900
        case binaryData = 1000
        case uuid = 1100
        case uri = 1200
        case transformable = 1800
        case objectID = 2000
        case composite = 2100
    }
}

extension Model.ValueType {
    /// The name in the source; nil for types that it cannot say.
    public var sourceName: String? { Self.sourceNames[self] }

    init?(sourceName: String) {
        guard let type = Self.sourceNames.first(where: { $0.value == sourceName })?.key else { return nil }
        self = type
    }

    private static let sourceNames: [Self: String] = [
        .integer16: "Integer 16", .integer32: "Integer 32", .integer64: "Integer 64", .decimal: "Decimal", .double: "Double",
        .float: "Float", .string: "String", .boolean: "Boolean", .date: "Date", .binaryData: "Binary", .uuid: "UUID", .uri: "URI",
        .transformable: "Transformable", .objectID: "Object ID", .composite: "Composite",
    ]

    /// The class of the values as compiled files name it; nil where the type does not say.
    var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binaryData: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .objectID: "NSManagedObjectID"
        case .composite: "NSDictionary"
        case .undefined, .transformable: nil
        }
    }
}
