import ModelCompiler
import ModelFormat

/// An entity diagram: a box for each entity, a line for each relationship with its inverse, and one for each inheritance.
struct Diagram {
    var boxes: [Box]
    var links: [Link]

    struct Box {
        let name: String
        let isAbstract: Bool
        var rows: [Row]
    }

    /// A property in a box.
    struct Row {
        let name: String
        let type: String
        let isRelationship: Bool
        /// What happens to the targets when the object is deleted; nil where they just lose it.
        var deleteRule: String?
    }

    /// A line from the left to the right, where nothing stands against it.
    struct Link {
        let start: End
        let end: End

        var isInheritance: Bool { start.mark == .parent }
    }

    /// Where a line meets a box: at a row, or at the name where there is none.
    struct End {
        let box: Int
        let row: Int?
        let mark: Mark
    }

    enum Mark: String {
        case none, one, many, parent, child
    }

    init(_ model: Model) {
        let entities = model.entities.sorted { $0.name < $1.name }
        boxes = entities.map(Box.init)
        links = []
        let places = Dictionary(boxes.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let family = EntityFamily(model)
        for (index, entity) in entities.enumerated() {
            if let parent = entity.parent.flatMap({ places[$0] }) {
                links.append(Link(start: End(box: parent, row: nil, mark: .parent), end: End(box: index, row: nil, mark: .child)))
            }
            for relationship in entity.relationships { addLink(for: relationship, of: index, family, places) }
        }
    }
}

extension Diagram {
    /// Adds a line for a relationship, unless it is its inverse's turn.
    private mutating func addLink(for relationship: Model.Relationship, of box: Int, _ family: EntityFamily, _ places: [String: Int]) {
        let home = family.lineage(of: relationship.destination).first { $0.relationships.contains { $0.name == relationship.inverse } }
        guard let target = places[home?.name ?? relationship.destination ?? ""] else { return }
        let inverse = relationship.inverse.flatMap { family.relationship($0, of: relationship.destination ?? "") }
        let near = End(box: box, row: row(relationship.name, in: box), mark: inverse?.mark ?? .none)
        let far = End(box: target, row: inverse.flatMap { row($0.name, in: target) }, mark: relationship.mark)
        guard inverse == nil || (box, near.row ?? 0) <= (target, far.row ?? 0) else { return }
        // Whom many belong to stands on the left.
        links.append(near.mark == .many && far.mark != .many ? Link(start: far, end: near) : Link(start: near, end: far))
    }

    private func row(_ name: String, in box: Int) -> Int? { boxes[box].rows.firstIndex { $0.name == name && $0.isRelationship } }
}

extension Diagram.Box {
    fileprivate init(_ entity: Model.Entity) {
        name = entity.name
        isAbstract = entity.isAbstract
        rows =
            entity.attributes.map { .init(name: $0.name, type: $0.typeName, isRelationship: false) }
            + entity.fetchedProperties.map { .init(name: $0.name, type: "fetched \($0.request.entity ?? "?")", isRelationship: false) }
            + entity.relationships.map {
                .init(name: $0.name, type: $0.typeName, isRelationship: true, deleteRule: $0.shownDeleteRule)
            }
    }
}

extension Model.Relationship {
    fileprivate var mark: Diagram.Mark { isToMany ? .many : .one }
    fileprivate var shownDeleteRule: String? { deleteRule == .nullify ? nil : deleteRule.name }
}
