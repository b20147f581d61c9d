/// How names of the model become names in a store.
enum SQLNames {
    static func table(of root: NSEntityDescription) -> String { column(root.name ?? "") }
    /// Names that no entity's table may have.
    static let systemTables: Set = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

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
