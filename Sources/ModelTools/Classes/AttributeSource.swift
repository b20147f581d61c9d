import ModelFormat

/// An attribute as a property of a class.
struct AttributeSource {
    private let attribute: Model.Attribute
    private let options: GenerationOptions
    private let names: ClassNames
    private let members: MemberNames

    init(_ attribute: Model.Attribute, _ options: GenerationOptions, _ names: ClassNames, _ members: MemberNames) {
        self.members = members
        self.attribute = attribute
        self.options = options
        self.names = names
    }

    /// The typed name that the property is built on; nil for a property that goes by name.
    var key: String? {
        guard case .slot(let type, _) = form else { return nil }
        return
            "\(options.access)static let \(SwiftNames.member(attribute.name)) = \(members.accessor("Attribute"))<\(type)>(\(SwiftNames.literal(attribute.name)))"
    }

    var property: [String] {
        let key = "self[\(members.keys).\(SwiftNames.member(attribute.name))]"
        switch form {
        case .slot(let type, nil): return property(type, get: key, set: "\(key) = newValue")
        case .slot(_, let view?): return property(view.type, get: view.get(key), set: "\(key) = \(view.set)")
        case .named(let type):
            let name = SwiftNames.literal(attribute.name)
            return property(type + "?", get: "value(forKey: \(name)) as? \(type)", set: "setValue(newValue, forKey: \(name))")
        }
    }

    /// Whether values can tell objects apart, as `Identifiable` wants of an `id`.
    var isHashable: Bool { attribute.type != .composite }

    private func property(_ type: String, get: String, set: String) -> [String] {
        let head = "\(options.access)var \(SwiftNames.quoted(attribute.name)): \(type) {"
        // What is computed from others cannot be set.
        return attribute.derivation != nil ? [head, "    \(get)", "}"] : [head, "    get { \(get) }", "    set { \(set) }", "}"]
    }
}

extension AttributeSource {
    /// How a property reaches its value.
    private enum Form {
        /// Over a typed accessor of that type; `view` is set where the property has another one.
        case slot(String, View?)
        /// By name, for values of a class.
        case named(String)
    }

    /// A property of a type that the accessor does not have.
    private struct View {
        let type: String
        let get: (String) -> String
        let set: String
    }

    private var form: Form {
        if attribute.derivation != nil, attribute.type == .undefined { return .named(names.standard("NSObject")) }
        switch attribute.type {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: return number
        case .date: return date
        case .string, .binaryData, .uuid, .uri: return .slot(object, nil)
        case .decimal: return decimal
        case .objectID: return .named(names.standard("NSManagedObjectID"))
        case .composite: return .named("[\(names.standard("String")): Any]")
        case .transformable, .undefined:
            return .named(attribute.customClassName.flatMap { $0.isEmpty ? nil : $0 } ?? names.standard("NSObject"))
        }
    }

    private var typeName: String {
        switch attribute.type {
        case .integer16: names.standard("Int16")
        case .integer32: names.standard("Int32")
        case .integer64: names.standard("Int64")
        case .float: names.standard("Float")
        case .boolean: names.standard("Bool")
        case .double: names.standard("Double")
        case .string: names.standard("String")
        case .binaryData: names.standard("Data")
        case .uuid: names.standard("UUID")
        case .uri: names.standard("URL")
        case .decimal: names.standard("Decimal")
        default: names.standard("Date")
        }
    }

    private var isMandatory: Bool { options.style == .swift && !attribute.isOptional }

    private var object: String { isMandatory ? typeName : typeName + "?" }

    private var number: Form {
        if options.style == .swift { return .slot(object, nil) }
        if attribute.usesScalarValueType == true { return .slot(typeName, nil) }
        let unboxed = attribute.type == .boolean ? "bool" : typeName.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let boxed = names.standard("NSNumber")
        return .slot(
            typeName + "?",
            View(type: "\(boxed)?", get: { "\($0).map { \(boxed)(value: $0) }" }, set: "newValue?.\(unboxed)Value")
        )
    }

    private var decimal: Form {
        if options.style == .swift { return .slot(object, nil) }
        let boxed = names.standard("NSDecimalNumber")
        let view = View(type: "\(boxed)?", get: { "\($0).map { \(boxed)(decimal: $0) }" }, set: "newValue?.decimalValue")
        return .slot(typeName + "?", view)
    }

    private var date: Form {
        guard options.style == .xcode, attribute.usesScalarValueType == true else { return .slot(object, nil) }
        let view = View(
            type: names.standard("TimeInterval"),
            get: { "\($0).timeIntervalSinceReferenceDate" },
            set: "\(typeName)(timeIntervalSinceReferenceDate: newValue)"
        )
        return .slot(typeName, view)
    }
}
