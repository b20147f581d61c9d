extension Model.Entity: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        fields.text("representedClassName", &className)
        fields.text("parentEntity", &parent)
        try fields.flag("isAbstract", &isAbstract)
        fields.text("elementID", &renamingIdentifier)
        fields.text("versionHashModifier", &versionHashModifier)
        try fields.optionalFlag("syncable", &isSyncable)
        try fields.optionalFlag("spotlightIndexingEnabled", &isSpotlightIndexed)
        fields.text("coreSpotlightDisplayNameExpression", &spotlightDisplayName)
        try exchangeCodeGeneration(with: &fields)
        try fields.children("attribute", &attributes)
        try fields.children("relationship", &relationships)
        try fields.children("fetchedProperty", &fetchedProperties)
        try fields.children("fetchIndex", &indexes)
        try fields.nameLists("compoundIndexes", "compoundIndex", &compoundIndexes)
        try fields.nameLists("uniquenessConstraints", "uniquenessConstraint", &uniquenessConstraints)
        try fields.userInfo(&userInfo)
        fields.rest(&extras)
    }

    private mutating func exchangeCodeGeneration(with fields: inout XMLFields) throws {
        var found: CodeGeneration? = codeGeneration == .manual ? nil : codeGeneration
        try fields.converted(
            "codeGenerationType",
            &found,
            "is no kind of code generation. There are class, category, manual",
            read: CodeGeneration.init,
            write: \.rawValue
        )
        codeGeneration = found ?? .manual
    }
}

/// A list of names, each in an element of its own.
private struct NameList: XMLElementValue {
    var names: [String] = []

    /// `index` in a compound index, `constraint` in a uniqueness constraint: an element has only one of them.
    mutating func exchange(with fields: inout XMLFields) throws {
        let child = fields.node.name == "compoundIndex" ? "index" : "constraint"
        try fields.texts(child, "value", &names)
    }
}

/// An entry of a user info.
private struct UserInfoEntry: XMLElementValue {
    var key: String?
    var value: String?

    mutating func exchange(with fields: inout XMLFields) throws {
        fields.text("key", &key)
        fields.text("value", &value)
    }
}

extension XMLFields {
    fileprivate mutating func nameLists(_ group: String, _ name: String, _ lists: inout [[String]]) throws {
        var made = lists.map { NameList(names: $0) }
        try self.group(group, name, &made)
        lists = made.map(\.names)
    }

    /// Reading gives texts; of two entries with one key the last counts.
    mutating func userInfo(_ userInfo: inout [String: Model.Value]) throws {
        var entries = userInfo.sorted { $0.key < $1.key }.map { UserInfoEntry(key: $0.key, value: $0.value.sourceText) }
        try group("userInfo", "entry", &entries)
        guard isReading else { return }
        userInfo = Dictionary(entries.map { ($0.key ?? "", .string($0.value ?? "")) }) { $1 }
    }
}
