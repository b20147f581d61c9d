import Foundation

/// What is in the file of a document store, as a property list.
struct Document {
    static let versionKey = "CoreDataDocument"
    private static let version = 1

    var metadata: [String: Any]
    /// The last number that was given to an object, by root entity.
    let lastNumbers: [String: Int64]
    /// The objects of each entity, by its name.
    private(set) var objects: [String: [[String: Any]]] = [:]

    init(metadata: [String: Any], lastNumbers: [String: Int64], objects: [String: [[String: Any]]] = [:]) {
        (self.metadata, self.lastNumbers, self.objects) = (metadata, lastNumbers, objects)
    }

    /// - Throws: `CocoaError` 259 for a file of something else, or of a later version; an error of reading it.
    init(contentsOf url: URL) throws {
        // Reading a pipe would wait for somebody to write.
        if FileStamp(url)?.isRegular == false { throw Self.corrupt(url, "is a directory, a device or a pipe, not a document") }
        // NB: closing a file drops all locks that the process has on it, SQLite's too.
        if StoreLock.isKnown(at: url) { throw Self.corrupt(url, "is a database that is open, not a document") }
        let data = try Data(contentsOf: url)
        guard let list = PropertyListSerialization.list(data) as? [String: Any],
            let version = list[Self.versionKey] as? Int, let metadata = Self.metadata(list["metadata"]),
            let objects = list["objects"] as? [String: [[String: Any]]]
        else {
            throw Self.corrupt(url, "is not a document of this library: those of Apple's have another format, and become SQLite on a Mac")
        }
        guard version == Self.version else { throw Self.corrupt(url, "was written by a later version of this library (format \(version))") }
        self.metadata = metadata
        self.objects = objects
        lastNumbers = (list["lastNumbers"] as? [String: NSNumber] ?? [:]).mapValues(\.int64Value)
    }

    static func corrupt(_ url: URL?, _ what: String) -> CocoaError {
        .coreData(.fileReadCorruptFile, "\(url?.path ?? "The file") \(what).", userInfo: url.map { [NSFilePathErrorKey: $0.path] } ?? [:])
    }

    private static func metadata(_ value: Any?) -> [String: Any]? {
        ((value as? Data).map(PropertyListSerialization.list) ?? value) as? [String: Any]
    }

    func data(_ format: PropertyListSerialization.PropertyListFormat) throws -> Data {
        guard PropertyListSerialization.propertyList(metadata, isValidFor: format), Self.areFinite(metadata) else {
            throw CocoaError.coreData(
                .persistentStoreOperation,
                "The metadata of the store has a value that no property list can hold: use texts, numbers, dates, data."
            )
        }
        let list: [String: Any] = [
            Self.versionKey: Self.version, "metadata": try form(of: metadata, in: format), "lastNumbers": lastNumbers, "objects": objects,
        ]
        return try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
    }

    /// Metadata with a value for which XML has no form, or one that loses something, are a binary list in it.
    private func form(of metadata: [String: Any], in format: PropertyListSerialization.PropertyListFormat) throws -> Any {
        if format != .xml || Self.hasForms(metadata) { return metadata }
        return try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
    }

    /// NB: Foundation writes dates to the second, and takes those that are very far for others.
    private static func hasForm(_ date: Date) -> Bool {
        let seconds = date.timeIntervalSinceReferenceDate
        return seconds.rounded() == seconds && seconds.magnitude < 1e12
    }

    private static func hasForms(_ value: Any) -> Bool {
        switch value {
        case let text as String: DocumentValue.hasForm(text)
        case let date as Date: hasForm(date)
        case let list as [Any]: list.allSatisfy(hasForms)
        case let values as [String: Any]: values.allSatisfy { hasForms($0.key) && hasForms($0.value) }
        default: true
        }
    }

    /// XML has no form for a date that is at no time.
    private static func areFinite(_ value: Any) -> Bool {
        switch value {
        case let date as Date: date.timeIntervalSinceReferenceDate.isFinite
        case let list as [Any]: list.allSatisfy(areFinite)
        case let values as [String: Any]: values.values.allSatisfy(areFinite)
        default: true
        }
    }

    mutating func add(_ node: NSAtomicStoreCacheNode, _ number: Int64, of store: DocumentStore) throws {
        let shape = node.entity.shape
        var object: [String: Any] = ["id": number]
        var values: [String: Any] = [:]
        for case let attribute? in shape.attributes {
            guard let value = node.attributeValue(attribute.name) else { continue }
            values[attribute.name] = try DocumentValue.encoded(value, of: attribute, node.entity)
        }
        if !values.isEmpty { object["values"] = values }
        var ends: [String: [Int64]] = [:]
        for property in node.entity.properties {
            guard let relationship = property as? NSRelationshipDescription, !relationship.isTransient,
                let ids = node.related(relationship.name), !ids.isEmpty
            else { continue }
            let numbers = ids.map(store.number)
            ends[relationship.name] = relationship.isOrdered ? numbers : numbers.sorted()
        }
        if !ends.isEmpty { object["relationships"] = ends }
        objects[node.entity.name ?? "", default: []].append(object)
    }
}

/// Attribute values in a property list: as they are where the list has a form that loses nothing, else as text.
enum DocumentValue {
    /// - Throws: `CocoaError` 134030 for a value of which its transformer makes no data.
    static func encoded(_ value: Any, of attribute: NSAttributeDescription, _ entity: NSEntityDescription) throws -> Any? {
        let stored = SlotValue(value, for: attribute)
        if stored != .null { return encoded(stored) }
        throw CocoaError.coreData(
            .persistentStoreSave,
            "\(entity.name ?? "?").\(attribute.name) would be lost: nothing can be written for a \(type(of: value))."
        )
    }

    private static func encoded(_ value: SlotValue) -> Any? {
        switch value {
        case .null, .reference: nil
        case .integer(let number): number
        case .boolean(let flag): flag
        case .float(let number): number.description
        case .double(let number): number.description
        case .date(let date): date.timeIntervalSinceReferenceDate.description
        case .uuid(let uuid): uuid.uuidString
        case .decimal(let number): number.description
        case .string(let text): hasForm(text) ? text : Data(text.utf8)
        case .binary(let data): data
        }
    }

    /// NB: XML has no form for most control characters, reads a carriage return as a line feed, and drops a byte order mark.
    static func hasForm(_ text: String) -> Bool { !text.unicodeScalars.contains(where: isUnsafe) }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar != "\n" && scalar != "\t" || scalar.value & 0xfffe == 0xfffe || scalar.value == 0xfeff
    }

    /// Nil for what is no value of such an attribute.
    static func decoded(_ value: Any, for attribute: NSAttributeDescription) -> SlotValue? {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            integer(value).flatMap { SlotValue(given: NSNumber(value: $0), for: attribute) }
        case .booleanAttributeType: (value as? NSNumber).map { .boolean($0.boolValue) }
        case .floatAttributeType: (value as? String).flatMap(Float.init).map { .float($0) }
        case .doubleAttributeType: (value as? String).flatMap(Double.init).map { .double($0) }
        case .dateAttributeType: (value as? String).flatMap(Double.init).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .UUIDAttributeType: (value as? String).flatMap(UUID.init).map { .uuid($0) }
        case .decimalAttributeType: (value as? String).flatMap(decimal).map { .decimal($0) }
        case .stringAttributeType, .URIAttributeType: text(value).map { .string($0) }
        case .binaryDataAttributeType, .transformableAttributeType: (value as? Data).map { .binary($0) }
        default: nil
        }
    }

    /// Nil for a fraction, and for what no 64 bits hold.
    static func integer(_ value: Any) -> Int64? {
        (value as? NSNumber).flatMap {
            $0.doubleValue.rounded() == $0.doubleValue && $0.isEqual(to: NSNumber(value: $0.int64Value)) ? $0.int64Value : nil
        }
    }

    /// Also one that is none, or that is written with more digits than a decimal has.
    private static func decimal(_ text: String) -> Decimal? {
        Decimal(string: text) ?? Double(text).map { StoredNumber.real($0).decimal }
    }

    private static func text(_ value: Any) -> String? {
        value as? String ?? (value as? Data).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
