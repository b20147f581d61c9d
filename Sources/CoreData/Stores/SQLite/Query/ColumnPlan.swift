import SQLiteDriver

/// How one slot of a row is filled from a column of a result.
struct ColumnStep: Equatable, Sendable {
    let slot: Int
    let kind: SlotKind
    /// The index in the result row.
    let column: Int32
    /// The index of the column with the entity of the target, beside a foreign key; -1 where there is none.
    let entityColumn: Int32
    /// The index of the destination entity, which the target has where no column says otherwise; -1 for attributes.
    let targetEntity: Int32
    /// Whether the data begin with a byte that says where they are.
    let isMarked: Bool
}

/// How a row of one entity is read from a result row.
final class ColumnPlan: Sendable {
    let entity: NSEntityDescription
    let shape: EntityShape
    /// In the order of the slots. Positions in ordered relationships are not read.
    let steps: [ColumnStep]
    /// The slots that get values; nil for all.
    let heldSlots: SlotMask?

    init(entity: NSEntityDescription, shape: EntityShape, steps: [ColumnStep], isPartial: Bool) {
        self.entity = entity
        self.shape = shape
        self.steps = steps
        heldSlots = isPartial ? SlotMask(steps.lazy.map(\.slot)) : nil
    }
}

/// The columns that a statement selects for the rows of an entity: the key, the entity number and the version, then every stored column of
/// the entity, and of its subentities where they count too, each once.
struct SelectedColumns: Sendable {
    /// What stands behind SELECT.
    let list: String
    /// How many columns `list` has.
    let count: Int32
    /// For each entity that a row can be of: abstract ones have none.
    let plans: [ColumnPlan]
    private let plansByNumber: [Int: ColumnPlan]

    /// What a statement that reads no values selects.
    static let none = SelectedColumns(list: "", count: 0, plansByNumber: [:])

    /// - Parameters:
    ///   - alias: the name of the entity's table in the statement.
    ///   - firstColumn: how many columns come before these.
    ///   - properties: whose columns to select; nil for all.
    init(
        entity: NSEntityDescription,
        includesSubentities: Bool,
        schema: SQLSchema,
        alias: String,
        firstColumn: Int32,
        properties: Set<String>? = nil
    ) {
        var builder = ColumnListBuilder(alias: alias, first: firstColumn, properties: properties)
        let entities = includesSubentities ? schema.subtree(of: entity) : [schema.entity(for: entity)]
        let plans = entities.filter { !$0.description.isAbstract }.map { ($0.number, builder.plan(for: $0)) }
        self.init(list: builder.list, count: builder.count, plansByNumber: Dictionary(plans) { $1 })
    }

    private init(list: String, count: Int32, plansByNumber: [Int: ColumnPlan]) {
        self.list = list
        self.count = count
        self.plansByNumber = plansByNumber
        plans = plansByNumber.sorted { $0.key < $1.key }.map(\.value)
    }

    /// How to read a row with this `Z_ENT`; nil when the fetch cannot give one.
    func plan(forNumber number: Int) -> ColumnPlan? { plansByNumber[number] }
}

/// Collects columns, each once.
private struct ColumnListBuilder {
    let alias: String
    let first: Int32
    let properties: Set<String>?
    private(set) var list: String
    private(set) var count: Int32 = 3
    private var indexes: [String: Int32] = [:]

    init(alias: String, first: Int32, properties: Set<String>?) {
        self.alias = alias
        self.first = first
        self.properties = properties
        list = "\(alias).\(SQLNames.key), \(alias).\(SQLNames.entity), \(alias).\(SQLNames.version)"
    }

    mutating func plan(for entity: SQLEntity) -> ColumnPlan {
        let shape = entity.description.shape
        var steps: [ColumnStep] = []
        for (slot, stored) in shape.layout.slots.enumerated() where stored.kind != .position {
            guard let column = entity.columns[stored.name], properties?.contains(stored.name) ?? true else { continue }
            let index = index(of: column.name)
            steps.append(
                ColumnStep(
                    slot: slot,
                    kind: stored.kind,
                    column: index,
                    entityColumn: column.entityColumn.map { self.index(of: $0) } ?? -1,
                    targetEntity: Int32(shape.toOnes[slot]?.destination.index ?? -1),
                    isMarked: column.isMarked
                )
            )
        }
        return ColumnPlan(entity: entity.description, shape: shape, steps: steps, isPartial: properties != nil)
    }

    private mutating func index(of column: String) -> Int32 {
        if let index = indexes[column] { return index }
        list += ", \(alias).\(column)"
        indexes[column] = first + count
        count += 1
        return first + count - 1
    }
}

extension SQLSchema {
    /// The entity and everything in the store that inherits from it, by ascending number.
    func subtree(of entity: NSEntityDescription) -> [SQLEntity] {
        let subtree = entity.subtree
        return entities.filter { subtree.contains($0.description.index) }
    }
}
