/// What follows from a frozen model about one entity, computed once.
///
/// A class, because it is asked for single facts on the path of every row.
final class EntityFacts {
    /// The entity's place among all entities of the model in the order of numbers in a store: 0, 1, 2, …
    let index: Int
    /// The indexes of the entity and of all that inherit from it.
    let subtree: Range<Int>
    // The model owns all its entities, the root too; whoever keeps an entity keeps its model.
    unowned let root: NSEntityDescription
    let versionHash: Data

    let properties: [NSPropertyDescription]
    let propertiesByName: [String: NSPropertyDescription]
    let attributesByName: [String: NSAttributeDescription]
    let relationshipsByName: [String: NSRelationshipDescription]
    let storedProperties: [NSPropertyDescription]
    let transientProperties: [NSPropertyDescription]
    let toManyRelationships: [NSRelationshipDescription]
    let propertiesInNameOrder: [NSPropertyDescription]

    init(of entity: NSEntityDescription, index: Int, subtree: Range<Int>, inherited: EntityFacts?) {
        self.index = index
        self.subtree = subtree
        root = inherited?.root ?? entity
        versionHash = Data(VersionHash.entity(entity, superentityHash: inherited.map { Array($0.versionHash) }))

        let declared = entity.declaredProperties.sorted(by: binaryNameOrder)
        let relationships = declared.compactMap { $0 as? NSRelationshipDescription }
        properties = (inherited?.properties ?? []) + entity.declaredProperties
        propertiesByName = NSEntityDescription.byName(properties)
        attributesByName = NSEntityDescription.byName(properties.compactMap { $0 as? NSAttributeDescription })
        relationshipsByName = NSEntityDescription.byName(properties.compactMap { $0 as? NSRelationshipDescription })
        let attributes: [NSPropertyDescription] = declared.filter { $0 is NSAttributeDescription && !$0.isTransient }
        storedProperties = (inherited?.storedProperties ?? []) + attributes + relationships.filter { !$0.isTransient && !$0.isToMany }
        transientProperties = (inherited?.transientProperties ?? []) + declared.filter(\.isTransient)
        toManyRelationships = (inherited?.toManyRelationships ?? []) + relationships.filter { !$0.isTransient && $0.isToMany }
        for (index, relationship) in toManyRelationships.enumerated() { relationship.toManyIndex = index }
        propertiesInNameOrder = properties.sorted(by: binaryNameOrder)
    }
}

/// The facts of an entity whose model is frozen. Reading one before that traps.
extension NSEntityDescription {
    private var frozen: EntityFacts {
        guard let facts else { misuse("Entity \(name ?? "") is not in use yet: add its model to a coordinator first.") }
        return facts
    }

    /// The entity's place among all entities of the model: 0, 1, 2, … in the order of their numbers in a store of the whole model.
    var index: Int { frozen.index }
    /// The indexes of this entity and of all that inherit from it.
    var subtree: Range<Int> { frozen.subtree }
    /// The topmost superentity, or the entity itself. It names the table, and primary keys are unique in it.
    var rootEntity: NSEntityDescription { frozen.root }
    /// Everything that has a place in a row: attributes that are not transient, and to-one relationships. What is inherited comes first;
    /// within an entity first attributes, then relationships, each in binary name order. So a subentity's list begins with its parent's.
    var storedProperties: [NSPropertyDescription] { frozen.storedProperties }
    /// Transient attributes and relationships in the same order.
    var transientProperties: [NSPropertyDescription] { frozen.transientProperties }
    /// To-many relationships that are not transient, inherited ones first, else in binary name order.
    var toManyRelationships: [NSRelationshipDescription] { frozen.toManyRelationships }
    /// All properties in binary name order: the order of the bits in a history entry.
    var propertiesInNameOrder: [NSPropertyDescription] { frozen.propertiesInNameOrder }

    /// The entity and its superentities, the root first.
    var inheritanceChain: [NSEntityDescription] { (superentity?.inheritanceChain ?? []) + [self] }
    /// Everything that inherits from this entity, in index order.
    var allSubentities: [NSEntityDescription] { Array(managedObjectModel.entitiesInIndexOrder[subtree].dropFirst()) }
}
