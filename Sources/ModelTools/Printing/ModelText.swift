import ModelFormat

/// A model as text for people: entities with their properties in columns, then what else there is.
public func text(of model: Model) -> String {
    (model.entities.map(\.text) + model.composites.map(\.text) + [model.rest]).filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
}

extension Model {
    fileprivate var rest: String {
        let configurations = configurations.map { "configuration \($0.name): \($0.members.joined(separator: ", "))" }
        return (configurations + fetchRequests.map(\.text)).joined(separator: "\n")
    }
}

extension Model.Entity {
    fileprivate var text: String {
        let notes = [
            plainClassName.map { "class \($0)" }, isAbstract ? "abstract" : nil,
            codeGeneration == .manual ? nil : "generated \(codeGeneration.rawValue)",
            renamingIdentifier.map { "was \($0)" },
        ]
        let heading = "entity \(name)" + (parent.map { ": \($0)" } ?? "") + bracketed(notes)
        let lines = columns(attributes.map(\.columns) + relationships.map(\.columns) + fetchedProperties.map(\.columns)).map { "  " + $0 }
        return ([heading] + lines + indexLines).joined(separator: "\n")
    }

    private var indexLines: [String] {
        uniquenessConstraints.map { "  unique (\($0.joined(separator: ", ")))" }
            + indexes.map { "  index \($0.text)" }
    }
}

extension Model.FetchIndex {
    fileprivate var text: String {
        let condition = partialPredicate.map { " where \($0.format)" } ?? ""
        return "\(name) (\(elements.map(\.text).joined(separator: ", ")))\(condition)"
    }
}

extension Model.FetchIndex.Element {
    /// The ascending order by value, which is the usual one, is not said.
    fileprivate var text: String {
        let order = collation == .rTree ? " by range" : isAscending ? "" : " descending"
        return (property ?? expression?.format ?? "expression") + order
    }
}

extension Model.Composite {
    fileprivate var text: String {
        (["composite \(name)"] + columns(attributes.map(\.columns)).map { "  " + $0 }).joined(separator: "\n")
    }
}

extension Model.Attribute {
    fileprivate var columns: [String] {
        let notes = [
            isTransient ? "transient" : nil, defaultValue.map { "= \($0.text)" }, minimum.map { "≥ \($0.text)" },
            maximum.map { "≤ \($0.text)" },
            pattern.map { "matches \($0)" }, derivation.map { "computed from \($0.format)" }, customClassName.map { "of class \($0)" },
            allowsExternalBinaryDataStorage ? "may be a file of its own" : nil, renamingIdentifier.map { "was \($0)" },
        ]
        return [name, typeName, notes.compactMap { $0 }.joined(separator: ", ")]
    }
}

extension Model.Relationship {
    fileprivate var columns: [String] {
        let limits = isToMany && (minCount > 0 || maxCount > 0) ? "\(minCount) to \(maxCount > 0 ? "\(maxCount)" : "any")" : nil
        let notes = [
            inverse.map { "↔ \($0)" } ?? "no inverse", deleteRule == .nullify ? nil : deleteRule.name, isTransient ? "transient" : nil,
            limits,
            renamingIdentifier.map { "was \($0)" },
        ]
        return [name, typeName, notes.compactMap { $0 }.joined(separator: ", ")]
    }
}

extension Model.FetchedProperty {
    fileprivate var columns: [String] { [name, "fetched", request.text] }
}

extension Model.FetchRequest {
    fileprivate var text: String {
        let condition = predicate.map { " where \($0.format)" } ?? ""
        return "fetch \(name.isEmpty ? "" : name + ": ")\(entity ?? "?")\(condition)"
    }
}

private func bracketed(_ notes: [String?]) -> String {
    let notes = notes.compactMap { $0 }
    return notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
}

/// Lines of cells, each column as wide as its widest cell.
public func columns(_ rows: [[String]]) -> [String] {
    let count: Int = rows.map(\.count).max() ?? 0
    let widths: [Int] = (0..<count).map { column in
        let cells: [Int] = rows.map { $0.count > column ? $0[column].count : 0 }
        return cells.max() ?? 0
    }
    return rows.map { row in
        let cells = zip(row, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
        let line = cells.joined(separator: "  ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
