import ModelFormat

/// Which entities and properties of one version of a model go together with which of the next.
///
/// The one reading of names and renaming identifiers, for what a person is told of a migration and for what it does.
package struct ModelPairing: Sendable {
    package let old: EntityFamily
    package let new: EntityFamily
    /// Each of the newer entities with the older one that it comes from.
    package let entities: [(old: Model.Entity?, new: Model.Entity)]
    /// The older entities that nothing comes from.
    package let gone: [Model.Entity]
    private let successors: [String: String]
    private let origins: [String: String]
    /// By newer entity and newer property, inherited ones included: the older property.
    private let properties: [String: [String: String]]
    /// By newer entity: those that inherit from it, and itself.
    private let subtrees: [String: [Model.Entity]]

    package init(_ old: Model, _ new: Model) {
        (self.old, self.new) = (EntityFamily(old), EntityFamily(new))
        (entities, gone) = paired(old.entities, new.entities, \.name, \.renamingIdentifier)
        let known = entities.compactMap { pair in pair.old.map { (old: $0.name, new: pair.new.name) } }
        successors = Dictionary(known.map { ($0.old, $0.new) }) { first, _ in first }
        origins = Dictionary(known.map { ($0.new, $0.old) }) { first, _ in first }
        let (before, after) = (self.old, self.new)
        subtrees = after.subtrees(of: new.entities)
        properties = Dictionary(known.map { ($0.new, before.origins(ofPropertiesIn: after.lineage(of: $0.new), $0.old)) }) { first, _ in
            first
        }
    }

    /// The older entity that one of the newer comes from; nil for one that is new.
    package func origin(of entity: String) -> String? { origins[entity] }

    /// The newer entity that comes from one of the older; nil for one that is gone.
    package func successor(of entity: String) -> String? { successors[entity] }

    /// What a property of a newer entity, its own or inherited, was called in the objects that are there; nil where they had no such thing in the
    /// store.
    package func origin(of property: String, in entity: String) -> String? { properties[entity]?[property] }

    /// The newer entities that inherit from one of them, and itself.
    package func subtree(of entity: String) -> [Model.Entity] {
        subtrees[entity] ?? []
    }

    /// Whether objects at the older end of a relationship are of the entity at the newer one.
    package func leads(to destination: String?, from origin: String?) -> Bool {
        let successor = origin.flatMap { successors[$0] }
        return destination == successor || new.lineage(of: successor).contains { $0.name == destination }
    }
}

extension EntityFamily {
    /// The entities at or below each.
    fileprivate func subtrees(of entities: [Model.Entity]) -> [String: [Model.Entity]] {
        entities.reduce(into: [:]) { subtrees, entity in
            for above in lineage(of: entity.name) { subtrees[above.name, default: []].append(entity) }
        }
    }

    /// For what entities have in the newer model, what one of this model has in its place. What is not in a store has no place.
    fileprivate func origins(ofPropertiesIn newer: [Model.Entity], _ entity: String) -> [String: String] {
        let older = lineage(of: entity)
        func all<Item>(_ lineage: [Model.Entity], _ items: (Model.Entity) -> [Item]) -> [Item] {
            // The first of a name is the one that the entity itself declares.
            lineage.flatMap(items)
        }
        let attributes = paired(
            all(older) { $0.attributes.filter { !$0.isTransient } },
            all(newer) { $0.attributes.filter { !$0.isTransient } },
            \.name,
            \.renamingIdentifier
        )
        let relationships = paired(
            all(older) { $0.relationships.filter { !$0.isTransient } },
            all(newer) { $0.relationships.filter { !$0.isTransient } },
            \.name,
            \.renamingIdentifier
        )
        let known = attributes.pairs.map { ($0.new.name, $0.old?.name) } + relationships.pairs.map { ($0.new.name, $0.old?.name) }
        return known.reduce(into: [:]) { origins, pair in origins[pair.0] = pair.1 }
    }
}

/// Pairs the things of two versions: first those that have kept both name and renaming identifier, then those whose identifier is another's name,
/// then those of one name, then those of which the older one had that identifier already.
///
/// - Returns: each of the newer ones with the older one that it comes from, and the older ones that nothing comes from.
func paired<Item>(
    _ old: [Item],
    _ new: [Item],
    _ name: (Item) -> String,
    _ identifier: (Item) -> String?
) -> (pairs: [(old: Item?, new: Item)], gone: [Item]) {
    var free: [Item?] = old
    var found = [Item?](repeating: nil, count: new.count)
    /// Pairs what has one key; a newer thing without one is left for later.
    func pair(_ older: (Item) -> [String], _ newer: (Item) -> [String]?) {
        var places: [[String]: [Int]] = [:]
        for (place, item) in free.enumerated().reversed() { if let item { places[older(item), default: []].append(place) } }
        for (place, item) in new.enumerated() where found[place] == nil {
            guard let key = newer(item), let match = places[key]?.popLast() else { continue }
            (found[place], free[match]) = (free[match], nil)
        }
    }
    func origin(_ item: Item) -> String { identifier(item) ?? name(item) }
    pair({ [origin($0), name($0)] }) { origin($0) == name($0) ? nil : [origin($0), name($0)] }
    pair({ [name($0)] }) { origin($0) == name($0) ? nil : [origin($0)] }
    pair({ [name($0)] }) { origin($0) == name($0) ? [name($0)] : nil }
    pair({ [origin($0)] }) { [origin($0)] }
    return (zip(found, new).map { (old: $0, new: $1) }, free.compactMap { $0 })
}
