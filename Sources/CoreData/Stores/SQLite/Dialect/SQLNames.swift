/// The names of the format: those that every store has, and how names of the model become names in a store.
enum SQLNames {
    /// The columns that every object's row begins with: its key, the number of its entity, and its version.
    static let key = "Z_PK"
    static let entity = "Z_ENT"
    static let version = "Z_OPT"
    static let rowColumns = [key, entity, version]

    /// The entities, by number: name, number of the superentity, and the last key that was given out.
    static let entityTable = "Z_PRIMARYKEY"
    static let entityName = "Z_NAME"
    static let superentity = "Z_SUPER"
    static let lastKey = "Z_MAX"
    /// What the store says of itself: one row.
    static let metadataTable = "Z_METADATA"
    static let metadataVersion = "Z_VERSION"
    static let identifier = "Z_UUID"
    static let propertyList = "Z_PLIST"
    /// The store's copy of its model.
    static let modelTable = "Z_MODELCACHE"
    static let modelContent = "Z_CONTENT"
    /// Names that no entity's table may have.
    static let systemTables: Set = [entityTable, metadataTable, modelTable]

    static func key(of alias: String) -> String { alias + ".Z_PK" }

    static func entity(of alias: String) -> String { alias + ".Z_ENT" }

    /// What a statement selects that finds objects: key and entity.
    static func reference(_ alias: String) -> String { alias + ".Z_PK, " + alias + ".Z_ENT" }

    /// `JOIN ZOWNER d ON d.Z_PK = o.ZOWNER`: the row that a foreign key leads to.
    static func join(_ table: String, _ alias: String, on foreignKey: String) -> String {
        "JOIN \(table) \(alias) ON \(alias).\(key) = \(foreignKey)"
    }

    static func fetchIndex(_ name: String, of entity: NSEntityDescription) -> String { "Z_\(entity.name ?? "")_\(name)" }

    static func uniqueIndex(over names: [String], of entity: NSEntityDescription) -> String {
        "Z_\(entity.name ?? "")_UNIQUE_\(names.joined(separator: "_"))"
    }

    static func table(of root: NSEntityDescription) -> String { column(root.name ?? "") }

    static func column(_ name: String) -> String { "Z" + name.uppercased() }

    /// The column beside the foreign key `column` that holds the entity of its target, an entity of the tree of `root`.
    static func entityColumn(beside column: String, root: Int) -> String { "Z\(root)_" + column.dropFirst() }

    /// The column beside the foreign key `column` that holds the position among the owner's targets.
    static func orderColumn(beside column: String) -> String { "Z_FOK_" + column.dropFirst() }

    /// The foreign key of a to-many relationship without inverse, in the table of its destination.
    static func columnWithoutInverse(owner: Int, _ name: String) -> String { "Z\(owner)" + name.uppercased() }

    /// A join table, named by a relationship and the number of the entity that declares it; also a column of such a table.
    static func join(_ number: Int, _ name: String) -> String { "Z_\(number)" + name.uppercased() }

    /// The column of a join table that holds the positions of what `column` holds.
    static func joinOrderColumn(beside column: String) -> String { "Z_FOK_" + column.dropFirst(2) }

    /// `name` as it stands, or with the first of 1, 2, 3, … that makes it differ from all of `taken`, which then contains it.
    static func unique(_ name: String, in taken: inout Set<String>) -> String {
        var unique = name
        var suffix = 0
        while !taken.insert(unique).inserted {
            suffix += 1
            unique = name + String(suffix)
        }
        return unique
    }

    /// Whether `candidate` is `name`, perhaps with the digits that a collision appends.
    static func isVariant(_ candidate: String, of name: String) -> Bool {
        candidate.hasPrefix(name) && candidate.dropFirst(name.count).allSatisfy { ("0"..."9").contains($0) }
    }

    /// `name` in double quotes where SQL text needs them. Names of entities and properties never do.
    static func quoted(_ name: String) -> String {
        let isPlain = name.unicodeScalars.allSatisfy { !$0.isASCII || $0 == "_" || CharacterSet.alphanumerics.contains($0) }
        return isPlain && !name.isEmpty ? name : "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }
}
