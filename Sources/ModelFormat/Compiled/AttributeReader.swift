import Foundation

/// Reads an attribute from an archive.
struct AttributeReader {
    private let object: ArchivedObject

    init(_ object: ArchivedObject) { self.object = object }

    func attribute(in place: String, _ composites: inout CompositeCollector) throws -> Model.Attribute {
        var attribute = Model.Attribute()
        attribute.name = try object.name("NSPropertyName")
        attribute.type = try type("NSAttributeType")
        attribute.isOptional = try object.flag("NSIsOptional")
        attribute.isTransient = try object.flag("NSIsTransient")
        attribute.isIndexed = try object.flag("NSIsIndexed")
        attribute.defaultValue = try object.modelValue("NSDefaultValue").flatMap { $0.suited(to: attribute.type) }
        attribute.valueTransformerName = try object.text("NSValueTransformerName")
        let className = try object.text("NSAttributeValueClassName")
        attribute.valueClassName = className == attribute.type.valueClassName ? nil : className
        attribute.customClassName = try object.text(ModelWriter.customClassKey)
        attribute.allowsCloudEncryption = try object.flag("NSAllowsCloudEncryption")
        attribute.renamingIdentifier = try object.renamingIdentifier(of: attribute.name)
        attribute.versionHashModifier = try object.text("NSVersionHashModifier")
        attribute.userInfo = try object.userInfo()
        try readFlags(&attribute)
        try readValidations(&attribute)
        attribute.derivation = try PredicateReader.expression(object.object("NSDerivationExpression"))
        attribute.derivationFilter = try PredicateReader.predicate(object.object("NSFilteringPredicate"))
        if attribute.type == .composite {
            attribute.composite = try composites.add(object, suggestion: "\(place)_\(attribute.name)")
        }
        return attribute
    }

    private func type(_ key: String) throws -> Model.ValueType {
        let number = try object.integer(key) ?? 0
        guard let type = Model.ValueType(rawValue: number) else { throw object.error("\(number) is no type of attributes") }
        return type
    }

    private func readFlags(_ attribute: inout Model.Attribute) throws {
        let flags = try object.integer("NSFlagsKey") ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
        attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
    }

    /// Bounds and patterns are predicates, known by their form and by their warning, which is an error code.
    private func readValidations(_ attribute: inout Model.Attribute) throws {
        let predicates = try object.objects("NSValidationPredicates")
        let warnings = try object.elements("NSValidationWarnings")
        guard predicates.count == warnings.count else {
            throw object.error("there are \(predicates.count) validation predicates but \(warnings.count) warnings")
        }
        for (predicate, node) in zip(predicates, warnings) {
            guard let predicate = try PredicateReader.predicate(predicate) else { continue }
            let warning = try Model.Value(node, in: object.archive)?.sourceText ?? ""
            attribute.add(Model.Attribute.Validation(predicate, warning: warning))
        }
    }
}

/// Collects the composites of a model, which archives have inside of attributes.
struct CompositeCollector {
    private(set) var found: [Model.Composite] = []
    private var depth = 0
    private var count = 0

    private static let deepest = 64
    private static let most = 10_000

    /// Adds the composite of an attribute; answers its name.
    mutating func add(_ attribute: ArchivedObject, suggestion: String) throws -> String {
        depth += 1
        count += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest, count <= Self.most else { throw attribute.error("composites contain others without an end") }
        var composite = Model.Composite()
        composite.name = try attribute.text("NSCompositeName") ?? suggestion
        for element in try attribute.objects("NSElements") {
            composite.attributes.append(try AttributeReader(element).attribute(in: composite.name, &self))
        }
        if !found.contains(composite) { found.append(composite) }
        return composite.name
    }
}
