/// The column of a derived attribute, which triggers keep up: after them SQLite does the work, whoever writes.
///
/// Names and texts are those of Apple's stores where such were found: counts of one-to-many relationships, values across to-one relationships, and
/// `now()`. The functions that each trigger ends with tell which rows were changed: see `Connection.takeReportedRows()`.
struct DerivedColumn {
    private enum Plan {
        case now
        case value(DerivedPath)
        case members(DerivedMembers)
    }

    private let attribute: NSDerivedAttributeDescription
    private let schema: SQLSchema
    private let entity: SQLEntity
    private let column: String
    private let plan: Plan

    /// Nil for an attribute of an entity that the store does not keep, or that is computed from what it does not keep.
    init?(_ attribute: NSDerivedAttributeDescription, _ schema: SQLSchema) {
        guard let derivation = try? Derivation(attribute), let entity = schema.entityIfStored(attribute.entity),
            let column = entity.columns[attribute.name]?.name,
            let plan = Self.plan(derivation, entity, column, schema)
        else { return nil }
        (self.attribute, self.schema, self.entity, self.column, self.plan) = (attribute, schema, entity, column, plan)
    }

    private static func plan(_ derivation: Derivation, _ entity: SQLEntity, _ column: String, _ schema: SQLSchema) -> Plan? {
        switch derivation {
        case .now: .now
        case .value(let links, let attribute, let function):
            DerivedPath(links, attribute, function, of: entity, schema).map(Plan.value)
        case .count(let members): DerivedMembers(members, nil, of: entity, column, schema).map(Plan.members)
        case .sum(let members, let attribute): DerivedMembers(members, attribute, of: entity, column, schema).map(Plan.members)
        }
    }

    /// The statements that make the triggers.
    var triggers: [String] {
        switch plan {
        case .now: timeTriggers
        case .value(let path): valueTriggers(path)
        case .members(let members): memberTriggers(members)
        }
    }

    /// The statement that computes the values of all rows; nil where only what is written has one.
    var recomputation: String? {
        let value =
            switch plan {
            case .now: String?.none
            case .value(let path): path.value(of: table)
            case .members(let members): members.value(of: "\(table).\(SQLNames.key)")
            }
        return value.map { "UPDATE \(table) SET \(column) = \($0)" + (kinds(SQLNames.entity).map { " WHERE \($0)" } ?? "") }
    }
}

extension DerivedColumn {
    private var table: String { entity.table }

    /// Which rows have the attribute, by the entity that they name; nil where all of the table do.
    private func kinds(_ column: String) -> String? {
        let own = schema.subtree(of: entity.description)
        guard own.count < schema.subtree(of: entity.description.rootEntity).count else { return nil }
        return "\(column) IN (\(own.map { String($0.number) }.joined(separator: ", ")))"
    }

    private var timeTriggers: [String] {
        [
            sourceTrigger("INSERT", on: "INSERT", set: SQLDialect.now, isNew: true),
            sourceTrigger("UPDATE", on: "UPDATE OF \(SQLNames.version)", set: SQLDialect.now),
        ]
    }

    private func valueTriggers(_ path: DerivedPath) -> [String] {
        let value = path.valueOfWritten
        let source = [
            sourceTrigger("SOURCE_INSERT", on: "INSERT", set: value, isNew: true),
            sourceTrigger("SOURCE_UPDATE", on: "UPDATE OF \(path.columns[0])", set: value),
        ]
        return source + path.tables.indices.flatMap { level in path.events(at: level).map(parameterTrigger) }
    }

    private func memberTriggers(_ members: DerivedMembers) -> [String] {
        let value = members.value(of: SQLNames.key(of: "NEW"))
        return members.events.map(parameterTrigger) + [sourceTrigger("SOURCE_INSERT", on: "INSERT", set: value, isNew: true)]
    }

    /// What the row itself sets off.
    private func sourceTrigger(_ kind: String, on event: String, set value: String, isNew: Bool = false) -> String {
        let own = "\(SQLNames.key) = \(SQLNames.key(of: "NEW"))"
        let isOurs = kinds(SQLNames.entity(of: "NEW"))
        return trigger(DerivedEvent(kind, event, on: table, when: isOurs, set: value, of: own, isInsert: isNew))
    }

    /// What other rows set off.
    private func parameterTrigger(_ event: DerivedEvent) -> String {
        var event = event
        if let kinds = kinds(SQLNames.entity) { event.rows += " AND \(kinds)" }
        event.kind = "PARAMETER_" + event.kind
        return trigger(event)
    }

    private func trigger(_ event: DerivedEvent) -> String {
        let name = "\(SQLDialect.derivationPrefix)\(event.table)_\(attribute.entity.name ?? "")_\(attribute.name)_\(event.kind)"
        let condition = event.condition.map { " WHEN (\($0))" } ?? ""
        let update = "UPDATE \(table) SET \(column) = \(event.value) WHERE \(event.rows)"
        let report = SQLDialect.report(isInsert: event.isInsert, table: table, attribute: attribute.name, column: column)
        return """
            CREATE TRIGGER \(SQLNames.quoted(name)) AFTER \(event.event) ON \(event.table) FOR EACH ROW\(condition) \
            BEGIN \(update); \(report) WHERE \(event.rows); END
            """
    }
}

/// What changes the value of a derived attribute.
struct DerivedEvent {
    /// The end of the trigger's name.
    var kind: String
    /// As SQL says it, and the table where it happens.
    let event: String
    let table: String
    let condition: String?
    /// The new value, and the rows that get it.
    let value: String
    var rows: String
    let isInsert: Bool

    init(
        _ kind: String,
        _ event: String,
        on table: String,
        when condition: String? = nil,
        set value: String,
        of rows: String,
        isInsert: Bool = false
    ) {
        (self.kind, self.event, self.table, self.condition) = (kind, event, table, condition)
        (self.value, self.rows, self.isInsert) = (value, rows, isInsert)
    }
}

extension SQLSchema {
    /// The derived attributes of all entities, each once.
    ///
    /// - Precondition: the model is one that stores take: `requireStorableAttributes(forConfigurationName:)`.
    var derivedColumns: [DerivedColumn] {
        entities.flatMap(\.description.declaredProperties).compactMap { property in
            (property as? NSDerivedAttributeDescription).flatMap { DerivedColumn($0, self) }
        }
    }
}
