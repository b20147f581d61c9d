import CoreData
import Foundation

/// A store in a CSV file that people edit too: saves keep their comments, the order of columns and rows, and columns that the model does not have.
///
/// A row is an object. The column `id` says which, the column `entity` of which entity: it may be missing where the model has one only. Every other
/// column is a property by its name: attributes as text, relationships as the ids of the other ends with blanks between. An empty field is nil; an
/// empty text is `""`.
public final class CSVStore: NSAtomicStore {
    public static let storeType = "CSV"

    private var table = CSVTable()
    /// What the file was when it was read or written last.
    private var version: FileVersion?

    public override func loadMetadata() throws {
        guard let url, let model = persistentStoreCoordinator?.managedObjectModel else { throw CocoaError(.fileNoSuchFile) }
        if let name = Self.misplaced(model) {
            throw CocoaError(
                .persistentStoreOpen,
                userInfo: [NSLocalizedDescriptionKey: "A CSVStore has a column of its own that is called \(name); no property can be."]
            )
        }
        if let name = Self.unwritable(model) {
            throw CocoaError(
                .persistentStoreOpen,
                userInfo: [NSLocalizedDescriptionKey: "A CSVStore has no text for values of the transformable attribute \(name)."]
            )
        }
        version = try FileVersion(url)
        if version != nil { table = try CSVTable(contentsOf: url) }
        let known = Set(model.entities.flatMap(\.propertiesByName.keys) + ["id", "entity"])
        if !table.columns.isEmpty, known.isDisjoint(with: table.columns) { throw corrupt("No column is one of the model.") }
        metadata = Self.metadata(in: table) ?? [:]
        metadata[NSStoreTypeKey] = Self.storeType
        metadata[NSStoreUUIDKey] = metadata[NSStoreUUIDKey] ?? UUID().uuidString
        if metadata[NSStoreModelVersionHashesKey] == nil { metadata[NSStoreModelVersionHashesKey] = versions(model) }
    }

    /// What the entities look like that are in this store.
    private func versions(_ model: NSManagedObjectModel) -> [String: Data] {
        let names = Set((model.entities(forConfigurationName: configurationName) ?? []).compactMap(\.name))
        return model.entityVersionHashesByName.filter { names.contains($0.key) }
    }

    /// A property that would be in a column which says what an object is.
    private static func misplaced(_ model: NSManagedObjectModel) -> String? {
        ["id", "entity"].first { name in model.entities.contains { $0.propertiesByName[name]?.isTransient == false } }
    }

    /// An attribute whose values no text stands for.
    private static func unwritable(_ model: NSManagedObjectModel) -> String? {
        let attributes = model.entities.lazy.flatMap(\.attributesByName.values)
        return attributes.first { $0.attributeType == .transformableAttributeType && !$0.isTransient }?.name
    }

    /// The metadata are in a comment at the top.
    private static let metadataMark = "#metadata "

    private static func metadata(in table: CSVTable) -> [String: Any]? {
        guard let line = table.headerComments.first(where: { $0.hasPrefix(metadataMark) }),
            let data = Data(base64Encoded: String(line.dropFirst(metadataMark.count)))
        else { return nil }
        return (try? PropertyListSerialization.propertyList(from: data, format: nil)) as? [String: Any]
    }

    public override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard let metadata = try metadata(in: CSVTable(contentsOf: url)) else {
            throw CocoaError(.fileReadCorruptFile, userInfo: [NSLocalizedDescriptionKey: "\(url.path) has never been saved by a CSVStore."])
        }
        return metadata
    }

    public override func load() throws {
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        nameRows()
        for row in table.rows {
            let (entity, id) = (try entity(of: row), row.fields["id"] ?? "")
            if id.contains(" ") { throw corrupt("The id “\(id)” has a blank in it, which stands between ids.") }
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: id))
            guard nodes.updateValue(node, forKey: key(entity, id)) == nil else { throw corrupt("The id \(id) is there twice.") }
            for attribute in entity.attributesByName.values where !attribute.isTransient {
                guard let text = row.fields[attribute.name] else { continue }
                guard let value = CSVValue.value(text, attribute) else { throw corrupt("\"\(text)\" is no value for \(attribute.name).") }
                node.setValue(value, forKey: attribute.name)
            }
        }
        for row in table.rows { try relate(row, nodes) }
        addCacheNodes(Set(nodes.values))
    }

    /// Whoever adds a row by hand need not know of ids: it gets one that no other has, by its place, which is the row's for good with the next
    /// save.
    private func nameRows() {
        var known = Set(table.rows.compactMap { $0.fields["id"] })
        for index in table.rows.indices where table.rows[index].fields["id"]?.isEmpty != false {
            let names = ((index + 1)...).lazy.map { "row\($0)" }
            guard let name = names.first(where: { !known.contains($0) }) else { return }
            known.insert(name)
            table.rows[index].fields["id"] = name
        }
    }

    private func key(_ entity: NSEntityDescription, _ id: String) -> String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return "\(root.name ?? "") \(id)"
    }

    private func relate(_ row: CSVTable.Row, _ nodes: [String: NSAtomicStoreCacheNode]) throws {
        let entity = try entity(of: row)
        guard let node = nodes[key(entity, row.fields["id"] ?? "")] else { return }
        for (name, relationship) in entity.relationshipsByName {
            guard let ids = row.fields[name], let destination = relationship.destinationEntity else { continue }
            let ends = try ids.split(separator: " ").map { id in
                guard let end = nodes[key(destination, String(id))] else { throw corrupt("There is no \(destination.name ?? "?") \(id).") }
                return end
            }
            node.setValue(
                relationship.isToMany ? relationship.isOrdered ? NSOrderedSet(array: ends) : NSSet(array: ends) : ends.first,
                forKey: name
            )
        }
    }

    private func entity(of row: CSVTable.Row) throws -> NSEntityDescription {
        let entities = persistentStoreCoordinator?.managedObjectModel.entities ?? []
        let name = row.fields["entity"]
        guard let entity = entities.first(where: { $0.name == name || (name == nil && entities.count == 1) }) else {
            throw corrupt("A row is of entity \(name ?? "?"), which the model does not have.")
        }
        return entity
    }

    private func corrupt(_ text: String) -> CocoaError {
        CocoaError(
            .fileReadCorruptFile,
            userInfo: [NSLocalizedDescriptionKey: "\(url?.path ?? "?"): \(text)", NSFilePathErrorKey: url?.path ?? ""]
        )
    }

    public override func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    public override func save() throws {
        guard let url else { return }
        try requireUnchanged(url)
        let nodes = cacheNodes().map { (node: $0, id: "\(referenceObject(for: $0.objectID))") }
        var byKey = Dictionary(uniqueKeysWithValues: nodes.map { (key($0.node.objectID.entity, $0.id), $0.node) })
        var written = table
        written.columns = columns(for: nodes.map(\.node))
        written.rows = try table.rows.compactMap { row in
            guard let node = byKey.removeValue(forKey: key(try entity(of: row), row.fields["id"] ?? "")) else { return nil }
            return CSVTable.Row(comments: row.comments, fields: Self.merged(fields(of: node), into: row.fields))
        }
        for (node, id) in nodes.sorted(by: { $0.id < $1.id }) where byKey[key(node.objectID.entity, id)] != nil {
            written.rows.append(CSVTable.Row(fields: Self.merged(fields(of: node), into: [:])))
        }
        written.headerComments = try headerComments()
        // Atomic writing takes the place of a link, and the file that the link leads to would stay as it is.
        try written.data.write(to: Self.target(of: url), options: .atomic)
        (table, version) = (written, try FileVersion(url))
    }

    /// Where a link leads, also one to a file that is not there yet.
    private static func target(of url: URL) -> URL {
        let target = url.resolvingSymlinksInPath()
        guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target.path) else { return target }
        return URL(fileURLWithPath: next, relativeTo: target.deletingLastPathComponent())
    }

    /// What people have written meanwhile is not written over.
    private func requireUnchanged(_ url: URL) throws {
        guard let current = try FileVersion(url), current != version else { return }
        throw CocoaError(
            .persistentStoreSave,
            userInfo: [NSLocalizedDescriptionKey: "\(url.path) was edited since it was read. Remove the store and add it again."]
        )
    }

    /// Fields that the model does not know stay.
    private static func merged(_ fields: [String: String?], into known: [String: String]) -> [String: String] {
        var merged = known
        for (name, text) in fields { merged[name] = text }
        return merged
    }

    /// The columns that there are, and after them those that the objects need.
    private func columns(for nodes: [NSAtomicStoreCacheNode]) -> [String] {
        var columns = table.columns
        func add(_ name: String) { if !columns.contains(name) { columns.append(name) } }
        add("id")
        if (persistentStoreCoordinator?.managedObjectModel.entities.count ?? 0) > 1 { add("entity") }
        let entities = Set(nodes.map(\.objectID.entity)).sorted { $0.name ?? "" < $1.name ?? "" }
        for entity in entities { for name in entity.propertiesByName.keys.sorted() { add(name) } }
        return columns
    }

    private func headerComments() throws -> [String] {
        let data = try PropertyListSerialization.data(fromPropertyList: metadata ?? [:], format: .binary, options: 0)
        let line = Self.metadataMark + data.base64EncodedString()
        let others = table.headerComments.filter { !$0.hasPrefix(Self.metadataMark) }
        return others + [line]
    }

    /// All fields of an object; nil for those that are to be empty.
    private func fields(of node: NSAtomicStoreCacheNode) -> [String: String?] {
        let entity = node.objectID.entity
        var fields: [String: String?] = ["id": "\(referenceObject(for: node.objectID))", "entity": entity.name]
        for attribute in entity.attributesByName.values where !attribute.isTransient {
            fields[attribute.name] = .some(node.value(forKey: attribute.name).flatMap { CSVValue.text($0) })
        }
        for (name, relationship) in entity.relationshipsByName {
            let ends =
                switch node.value(forKey: name) {
                case let end as NSAtomicStoreCacheNode: [end]
                case let ends as NSOrderedSet: ends.array.compactMap { $0 as? NSAtomicStoreCacheNode }
                case let ends as NSSet: ends.allObjects.compactMap { $0 as? NSAtomicStoreCacheNode }
                default: [NSAtomicStoreCacheNode]()
                }
            let ids = ends.map { "\(referenceObject(for: $0.objectID))" }
            fields[name] = .some(ids.isEmpty ? nil : (relationship.isOrdered ? ids : ids.sorted()).joined(separator: " "))
        }
        return fields
    }
}

/// What is different after somebody has written a file.
private struct FileVersion: Equatable {
    private let size: Int?
    private let modified: Date?

    /// Nil where there is no file.
    ///
    /// - Throws: what keeps from finding out, as a folder that may not be searched.
    init?(_ url: URL) throws {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
            // Those of a link that leads nowhere would be its own.
            if attributes[.type] as? FileAttributeType == .typeSymbolicLink { return nil }
            (size, modified) = (attributes[.size] as? Int, attributes[.modificationDate] as? Date)
        } catch let error as CocoaError where [.fileNoSuchFile, .fileReadNoSuchFile].contains(error.code) {
            return nil
        }
    }
}

/// Values as people write them.
private enum CSVValue {
    private static let flags = ["1": true, "true": true, "yes": true, "y": true, "0": false, "false": false, "no": false, "n": false]

    static func text(_ value: Any) -> String? {
        switch value {
        case let date as Date: DateText.text(date)
        case let data as Data: data.base64EncodedString()
        case let id as UUID: id.uuidString
        case let number as NSNumber: number.stringValue
        default: "\(value)"
        }
    }

    static func value(_ text: String, _ attribute: NSAttributeDescription) -> Any? {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: Int64(text).map { NSNumber(value: $0) }
        case .booleanAttributeType: flags[text.trimmingCharacters(in: .whitespaces).lowercased()].map { NSNumber(value: $0) }
        case .doubleAttributeType, .floatAttributeType: Double(text).map { NSNumber(value: $0) }
        case .decimalAttributeType: Decimal(string: text)
        case .dateAttributeType: DateText.date(text)
        case .UUIDAttributeType: UUID(uuidString: text)
        case .URIAttributeType: URL(string: text)
        case .binaryDataAttributeType: Data(base64Encoded: text)
        case .stringAttributeType: text
        default: nil
        }
    }
}

/// Dates as `2024-05-06T07:08:09Z`; behind that, where it does not say all, the seconds since 2001 as a number: `2024-05-06T07:08:09Z+736672089.5`.
private enum DateText {
    /// Years that the text has four digits for.
    private static let plain = Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

    static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        let whole = seconds.rounded(.down)
        guard plain.contains(date) else { return "Z+\(seconds)" }
        let text = Date(timeIntervalSinceReferenceDate: whole).formatted(.iso8601)
        return whole == seconds ? text : "\(text)+\(seconds)"
    }

    static func date(_ text: String) -> Date? {
        if let mark = text.range(of: "Z+") {
            return Double(text[mark.upperBound...]).map { Date(timeIntervalSinceReferenceDate: $0) }
        }
        return try? Date(text, strategy: .iso8601)
    }
}
