import ModelFormat

extension Model.Attribute {
    var warnings: [String] {
        [composite, undefinedType, missingDefault, unfitDefault, range, insecureTransformer, reservedName].compactMap { $0 }
    }

    private var composite: String? {
        type == .composite ? "is composite, which no store takes yet: make plain attributes of its parts" : nil
    }

    private var undefinedType: String? {
        type == .undefined && !isTransient && derivation == nil ? "has no type, and is not transient" : nil
    }

    private var missingDefault: String? {
        !isOptional && !isTransient && derivation == nil && defaultValue == nil ? "is mandatory and has no default" : nil
    }

    private var unfitDefault: String? {
        guard let defaultValue, type != .string, case .string(let text) = defaultValue else { return nil }
        return "has the default \"\(text)\", which is no value of its type"
    }

    private var range: String? {
        if let low = minimum?.number, let high = maximum?.number, low > high { return "has a minimum above its maximum" }
        guard let value = type == .string ? defaultValue?.length : defaultValue?.number else { return nil }
        if let low = minimum?.number, value < low { return "has a default below its minimum" }
        if let high = maximum?.number, value > high { return "has a default above its maximum" }
        return nil
    }

    private var insecureTransformer: String? {
        guard type == .transformable, ["", "NSKeyedUnarchiveFromData"].contains(valueTransformerName ?? "") else { return nil }
        return "is archived without checking classes: name a transformer such as NSSecureUnarchiveFromData"
    }

    private var reservedName: String? {
        SwiftNames.reserved.contains(name) ? "has the name of something that all managed objects have" : nil
    }
}

extension Model.Value {
    fileprivate var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number), .date(let number): number
        case .decimal(let number): Double("\(number)")
        default: nil
        }
    }

    fileprivate var length: Double? {
        guard case .string(let text) = self else { return nil }
        return Double(text.utf16.count)
    }
}
