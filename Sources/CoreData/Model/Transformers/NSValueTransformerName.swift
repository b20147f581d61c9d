/// The name under which a `ValueTransformer` is known.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }

    /// Turns true into false and back.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// Whether there is no value.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// Whether there is a value.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    /// Reads an archive with objects of any class.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// Reads a keyed archive with objects of any class.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// Reads a keyed archive with objects of Foundation's value classes.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")

    static var builtIn: [NSValueTransformerName: ValueTransformer] {
        [
            negateBooleanTransformerName: NegationTransformer(), isNilTransformerName: NilTransformer(),
            isNotNilTransformerName: NotNilTransformer(), unarchiveFromDataTransformerName: UnarchivingTransformer(),
            keyedUnarchiveFromDataTransformerName: UnarchivingTransformer(),
            secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        ]
    }
}
