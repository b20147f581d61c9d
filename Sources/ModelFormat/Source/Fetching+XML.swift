extension Model.FetchedProperty: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        try fields.flag("optional", &isOptional)
        fields.text("elementID", &renamingIdentifier)
        fields.text("versionHashModifier", &versionHashModifier)
        try fields.optionalFlag("syncable", &isSyncable)
        var requests = [request]
        try fields.children("fetchRequest", &requests)
        guard let first = requests.first, requests.count == 1 else {
            throw fields.error("fetched property \(name) has \(requests.count) fetch requests, not one")
        }
        request = first
        try fields.userInfo(&userInfo)
        fields.rest(&extras)
    }
}

extension Model.FetchRequest: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        fields.text("entity", &entity)
        try fields.predicate("predicateString", &predicate)
        try fields.integer("resultType", &resultType)
        try fields.integer("fetchLimit", &fetchLimit)
        try fields.integer("fetchOffset", &fetchOffset)
        try fields.integer("fetchBatchSize", &fetchBatchSize)
        for (name, option) in Self.optionNames { try exchange(option, name, with: &fields) }
        fields.rest(&extras)
    }

    private static let optionNames: [(String, Options)] = [
        ("includeSubentities", .includesSubentities), ("includePropertyValues", .includesPropertyValues),
        ("includesPendingChanges", .includesPendingChanges), ("returnObjectsAsFaults", .returnsObjectsAsFaults),
        ("returnDistinctResults", .returnsDistinctResults),
    ]

    /// An option that the source does not name has the value that new requests have.
    private mutating func exchange(_ option: Options, _ name: String, with fields: inout XMLFields) throws {
        var isOn: Bool? = options == .standard ? nil : options.contains(option)
        try fields.optionalFlag(name, &isOn)
        guard fields.isReading, let isOn else { return }
        if isOn { options.insert(option) } else { options.remove(option) }
    }
}

extension Model.FetchIndex: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        try fields.predicate("partialIndexPredicate", &partialPredicate)
        try fields.children("fetchIndexElement", &elements)
        fields.rest(&extras)
    }
}

extension Model.FetchIndex.Element: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        fields.text("property", &property)
        try fields.converted("expression", &expression, "", read: { .text($0) }, write: \.format)
        try fields.converted("expressionType", &expressionType, "is no type of values", read: Model.ValueType.init(sourceName:)) {
            $0.sourceName ?? ""
        }
        if property == nil && expression == nil { throw fields.error("an element of an index has neither a property nor an expression") }
        try exchangeCollation(with: &fields)
        try exchangeOrder(with: &fields)
        fields.rest(&extras)
    }

    private mutating func exchangeCollation(with fields: inout XMLFields) throws {
        var found: Model.FetchIndex.Collation? = collation
        let names: [Model.FetchIndex.Collation: String] = [.binary: "Binary", .rTree: "RTree"]
        try fields.converted("type", &found, "is no type of index", read: { text in names.first { $0.value == text }?.key }) {
            names[$0] ?? ""
        }
        collation = found ?? .binary
    }

    private mutating func exchangeOrder(with fields: inout XMLFields) throws {
        var found: Bool? = isAscending
        let names = ["ascending": true, "descending": false]
        try fields.converted("order", &found, "is neither ascending nor descending", read: { names[$0] }) {
            $0 ? "ascending" : "descending"
        }
        isAscending = found ?? true
    }
}

extension XMLFields {
    fileprivate mutating func predicate(_ name: String, _ predicate: inout Model.Predicate?) throws {
        try converted(name, &predicate, "", read: { .format($0) }, write: \.format)
    }
}
