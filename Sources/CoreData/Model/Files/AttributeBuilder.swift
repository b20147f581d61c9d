import ModelFormat
import Predicates

/// Makes descriptions of attributes.
struct AttributeBuilder {
    private let composites: [String: Model.Composite]

    init(_ composites: [String: Model.Composite]) { self.composites = composites }

    func description(of attribute: Model.Attribute) throws -> NSAttributeDescription {
        let description = try Self.kind(of: attribute).init()
        description.name = attribute.name
        description.isOptional = attribute.isOptional
        description.isTransient = attribute.isTransient
        description.isIndexed = attribute.isIndexed
        description.attributeType = NSAttributeType(attribute.type)
        description.defaultValue = attribute.defaultValue.flatMap { $0.suited(to: attribute.type)?.plain(for: attribute.type) }
        description.valueTransformerName = attribute.valueTransformerName
        if let className = attribute.valueClassName { description.attributeValueClassName = className }
        description.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
        description.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
        description.allowsCloudEncryption = attribute.allowsCloudEncryption
        description.versionHashModifier = attribute.versionHashModifier
        description.renamingIdentifier = attribute.renamingIdentifier
        description.userInfo = attribute.userInfo.plain
        try setValidations(of: attribute, in: description)
        if let derivation = attribute.derivation {
            (description as? NSDerivedAttributeDescription)?.derivation = Self.derivation(derivation)
        }
        let elements = try attribute.composite.flatMap { composites[$0] }?.attributes.map(self.description)
        (description as? NSCompositeAttributeDescription)?.elements = elements ?? []
        return description
    }

    private static func kind(of attribute: Model.Attribute) throws -> NSAttributeDescription.Type {
        if attribute.derivation != nil { return NSDerivedAttributeDescription.self }
        return attribute.type == .composite ? NSCompositeAttributeDescription.self : NSAttributeDescription.self
    }

    /// NB: the version hash needs the text, even of an expression in a language of its own such as `first ++ last`.
    private static func derivation(_ expression: Model.Expression) -> NSObject {
        (try? NSExpression.make(expression)) ?? NSString(string: expression.format)
    }

    /// - Throws: for a predicate that cannot be asked about a value of the type: a save would stop the program.
    private func setValidations(of attribute: Model.Attribute, in description: NSAttributeDescription) throws {
        let validations = attribute.withBoundsOfItsType.allValidations
        let predicates = try validations.map { validation in
            let predicate = try NSPredicate.make(validation.predicate)
            do {
                _ = try predicate.tree.evaluate(attribute.type.sample)
            } catch {
                throw ModelFormatError(nil, "the validation \(predicate.printedFormat) of \(attribute.name) cannot be evaluated: \(error)")
            }
            return predicate
        }
        description.setValidationPredicates(predicates, withValidationWarnings: validations.map(\.warning))
    }
}

extension Model.Attribute {
    /// NB: a bound is a number with all its digits, and a Float has fewer: 0.3 would be greater than a maximum of 0.3.
    fileprivate var withBoundsOfItsType: Self {
        guard type == .float else { return self }
        var attribute = self
        (attribute.minimum, attribute.maximum) = (Self.asFloat(minimum), Self.asFloat(maximum))
        return attribute
    }

    private static func asFloat(_ bound: Model.Value?) -> Model.Value? {
        guard case .real(let number)? = bound?.suited(to: .float) else { return bound }
        return .real(Double(Float(number)))
    }
}

extension NSAttributeType {
    init(_ type: Model.ValueType) { self = NSAttributeType(rawValue: UInt(type.rawValue)) ?? .undefinedAttributeType }
}

extension Model.ValueType {
    /// Any value of the type; nil for types whose values have no class of their own.
    fileprivate var sample: Any? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float: 0
        case .decimal: NSDecimalNumber.zero
        case .string: ""
        case .boolean: false
        case .date: Date(timeIntervalSinceReferenceDate: 0)
        case .binaryData: Data()
        case .uuid: UUID()
        case .uri: URL(fileURLWithPath: "/")
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }
}
