import SQLiteDriver

/// What the plans of one store have in common, kept so that a small fetch pays only for its predicate.
///
/// One per store and schema; any thread may use it.
final class PlanCache: Sendable {
    let schema: SQLSchema
    private let frames: Lock<[Key: PlanFrame]>

    init(schema: SQLSchema) {
        self.schema = schema
        frames = Lock([:])
    }

    func frame(entity: NSEntityDescription, includesSubentities: Bool, result: FetchPlan.Result) -> PlanFrame {
        let key = Key(entity: entity.index, includesSubentities: includesSubentities, result: result)
        return frames.withLock { frames in
            if let frame = frames[key] { return frame }
            let frame = PlanFrame(entity: entity, includesSubentities: includesSubentities, result: result, schema: schema)
            frames[key] = frame
            return frame
        }
    }

    private struct Key: Hashable {
        let entity: Int
        let includesSubentities: Bool
        let result: FetchPlan.Result
    }
}

/// What a plan takes from its entity alone. A class, so that handing it out costs one retain.
final class PlanFrame: Sendable {
    let entity: SQLEntity
    /// `SELECT … FROM ZSONG t0`
    let select: String
    /// The same with the columns handed to the driver's aggregate; nil where they are too many, or not asked for.
    let sinkSelect: String?
    let columns: SelectedColumns
    /// ` WHERE t0.Z_ENT = 2`, or nothing when every row of the table counts.
    let entityFilter: String
    /// The statements that look rows up by the value of one attribute.
    let lookUps = Lock<[LookUp.Shape: String]>([:])

    init(entity: NSEntityDescription, includesSubentities: Bool, result: FetchPlan.Result, schema: SQLSchema) {
        let stored = schema.entity(for: entity)
        self.entity = stored
        switch result {
        case .rows, .partialRows:
            columns = SelectedColumns(
                entity: entity,
                includesSubentities: includesSubentities,
                schema: schema,
                alias: "t0",
                firstColumn: 0,
                properties: result.properties
            )
            select = "SELECT \(columns.list) FROM \(stored.table) t0"
        case .references:
            columns = .none
            select = "SELECT \(SQLNames.reference("t0")) FROM \(stored.table) t0"
        case .count:
            columns = .none
            select = "SELECT COUNT(*) FROM \(stored.table) t0"
        }
        let isSink = columns.count > 0 && Int(columns.count) <= Connection.sinkLimit
        sinkSelect = isSink ? "SELECT \(Connection.sinkName)(\(columns.list)) FROM \(stored.table) t0" : nil
        entityFilter = Self.entityFilter(of: entity, includesSubentities, schema)
    }

    private static func entityFilter(of entity: NSEntityDescription, _ includesSubentities: Bool, _ schema: SQLSchema) -> String {
        let wanted = includesSubentities ? schema.subtree(of: entity) : [schema.entity(for: entity)]
        if wanted.count == schema.subtree(of: entity.rootEntity).count { return "" }
        if wanted.count == 1 { return " WHERE t0.\(SQLNames.entity) = \(wanted[0].number)" }
        return " WHERE t0.\(SQLNames.entity) IN (\(wanted.map { String($0.number) }.joined(separator: ", ")))"
    }
}
