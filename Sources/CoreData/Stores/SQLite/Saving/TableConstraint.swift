import SQLiteDriver

/// A uniqueness constraint as the table has it: whichever entity of the tree declares it, it holds for all rows that have its columns.
struct TableConstraint {
    /// The properties, as the model names them.
    let names: [String]
    let columns: [String]

    /// The constraints of all entities of a tree.
    static func all(ofTreeOf entity: NSEntityDescription, _ schema: SQLSchema) -> [TableConstraint] {
        var known: Set<[String]> = []
        return schema.subtree(of: entity.rootEntity).flatMap { entity in
            entity.description.constraintNames.compactMap { names in
                let columns = names.compactMap { entity.columns[$0]?.name }
                guard columns.count == names.count, known.insert(columns).inserted else { return nil }
                return TableConstraint(names: names, columns: columns)
            }
        }
    }

    /// The slots of the properties in an entity's rows; nil where it lacks one of them.
    func slots(in entity: SQLEntity) -> [Int]? {
        let layout = entity.description.shape.layout
        let slots = zip(names, columns).compactMap { name, column in
            entity.columns[name]?.name == column ? layout.slotsByName[name] : nil
        }
        return slots.count == names.count ? slots : nil
    }
}
