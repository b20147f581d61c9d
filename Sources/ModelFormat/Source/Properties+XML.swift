extension Model.Attribute: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        try fields.flag("optional", &isOptional)
        try fields.flag("transient", &isTransient)
        try exchangeType(with: &fields)
        fields.text("composite", &composite)
        try exchangeValues(with: &fields)
        fields.text("regularExpressionString", &pattern)
        try fields.optionalFlag("usesScalarValueType", &usesScalarValueType)
        fields.text("valueTransformerName", &valueTransformerName)
        fields.text("customClassName", &customClassName)
        try fields.flag("allowsExternalBinaryDataStorage", &allowsExternalBinaryDataStorage)
        try fields.flag("preserveAfterDeletion", &preservesValueInHistoryOnDeletion)
        try fields.flag("allowsCloudEncryption", &allowsCloudEncryption)
        try exchangeDerivation(with: &fields)
        try fields.flag("indexed", &isIndexed)
        try fields.optionalFlag("spotlightIndexingEnabled", &isSpotlightIndexed)
        try fields.optionalFlag("storedInTruthFile", &isStoredInTruthFile)
        fields.text("elementID", &renamingIdentifier)
        fields.text("versionHashModifier", &versionHashModifier)
        try fields.optionalFlag("syncable", &isSyncable)
        try fields.userInfo(&userInfo)
        fields.rest(&extras)
    }

    private mutating func exchangeType(with fields: inout XMLFields) throws {
        var found: Model.ValueType? = type == .undefined ? nil : type
        let problem = "is no type of attributes. There are \(Model.ValueType.allCases.compactMap(\.sourceName).joined(separator: ", "))"
        try fields.converted("attributeType", &found, problem, read: Model.ValueType.init(sourceName:)) {
            $0.sourceName ?? ""
        }
        type = found ?? .undefined
    }

    /// NB: `derived` says it, and the expression may be missing from a model that is being edited.
    private mutating func exchangeDerivation(with fields: inout XMLFields) throws {
        var isDerived = derivation != nil
        try fields.flag("derived", &isDerived)
        var text = derivation?.format
        fields.text("derivationExpression", &text)
        if fields.isReading { derivation = isDerived || text != nil ? .text(text ?? "") : nil }
    }
}

/// Default values and bounds.
extension Model.Attribute {
    fileprivate mutating func exchangeValues(with fields: inout XMLFields) throws {
        if type == .date { return try exchangeDates(with: &fields) }
        let boundType = type == .string ? Model.ValueType.integer64 : type
        try fields.value("defaultValueString", &defaultValue, type)
        try fields.value("minValueString", &minimum, boundType)
        try fields.value("maxValueString", &maximum, boundType)
    }

    /// A date has a number of seconds, and beside it a text for the editor.
    private mutating func exchangeDates(with fields: inout XMLFields) throws {
        for name in ["defaultValueString", "minValueString", "maxValueString"] { fields.text(name, &dateTexts[name]) }
        try fields.date("defaultDateTimeInterval", &defaultValue)
        try fields.date("minDateTimeInterval", &minimum)
        try fields.date("maxDateTimeInterval", &maximum)
    }
}

extension XMLFields {
    /// NB: real models have texts that are no values of the attribute's type, such as an empty one, or NO for an integer. They stay texts.
    fileprivate mutating func value(_ name: String, _ value: inout Model.Value?, _ type: Model.ValueType) throws {
        try converted(name, &value, "", read: { Model.Value(sourceText: $0, type: type) ?? .string($0) }, write: \.sourceText)
    }

    fileprivate mutating func date(_ name: String, _ value: inout Model.Value?) throws {
        try converted(name, &value, "is no number of seconds", read: { Double($0).map { .date($0) } }) { value in
            // A compiled model can have any value there.
            guard Double(value.sourceText) != nil else {
                throw ModelFormatError(nil, "\(name) of a date is \(value.sourceText), which is none")
            }
            return value.sourceText
        }
    }
}

extension Model.Relationship: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        try fields.flag("optional", &isOptional)
        try fields.flag("transient", &isTransient)
        var isToMany = self.isToMany
        try fields.flag("toMany", &isToMany)
        try fields.integer("minCount", &minCount)
        try fields.integer("maxCount", &maxCount, absent: isToMany ? 0 : fields.isReading ? 1 : -1)
        try exchangeDeleteRule(with: &fields)
        try fields.flag("ordered", &isOrdered)
        fields.text("destinationEntity", &destination)
        fields.text("inverseName", &inverse)
        fields.text("inverseEntity", &inverseEntity)
        try fields.flag("indexed", &isIndexed)
        try fields.optionalFlag("spotlightIndexingEnabled", &isSpotlightIndexed)
        try fields.optionalFlag("storedInTruthFile", &isStoredInTruthFile)
        fields.text("elementID", &renamingIdentifier)
        fields.text("versionHashModifier", &versionHashModifier)
        try fields.optionalFlag("syncable", &isSyncable)
        try fields.userInfo(&userInfo)
        fields.rest(&extras)
    }

    private mutating func exchangeDeleteRule(with fields: inout XMLFields) throws {
        var found: DeleteRule? = deleteRule
        let problem = "is no delete rule. There are \(DeleteRule.allCases.map(\.sourceName).joined(separator: ", "))"
        try fields.converted("deletionRule", &found, problem, read: DeleteRule.init(sourceName:), write: \.sourceName)
        deleteRule = found ?? .nullify
    }
}

extension Model.Relationship.DeleteRule {
    fileprivate var sourceName: String {
        switch self {
        case .noAction: "No Action"
        case .nullify: "Nullify"
        case .cascade: "Cascade"
        case .deny: "Deny"
        }
    }

    fileprivate init?(sourceName: String) {
        guard let rule = Self.allCases.first(where: { $0.sourceName == sourceName }) else { return nil }
        self = rule
    }
}
