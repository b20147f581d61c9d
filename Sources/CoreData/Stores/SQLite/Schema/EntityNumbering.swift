/// Which number (`Z_ENT`) each entity has in one store.
struct EntityNumbering: Sendable {
    /// The entities that the store keeps, by ascending number.
    let entities: [NSEntityDescription]
    /// By the index of the entity; nil for entities that the store does not keep.
    private let numbers: [Int?]

    /// The numbers of a new store: 1, 2, 3, … in the order of the model.
    init(model: NSManagedObjectModel, configuration: String?) {
        let members = Self.members(of: model, configuration: configuration)
        self.init(numbered: members.enumerated().map { ($0.element, $0.offset + 1) }, of: model)
    }

    /// The numbers that a store's `Z_PRIMARYKEY` gives. An entity is found by its name, else by its renaming identifier, else it has the
    /// number that a new store would give it.
    ///
    /// NB: a store that Apple's Core Data has migrated can keep the old name of an entity that was renamed.
    ///
    /// - Throws: `CocoaError.persistentStoreIncompatibleSchema` that names an entity which the store does not know.
    init(names: [String: Int], model: NSManagedObjectModel, configuration: String?) throws {
        let members = Self.members(of: model, configuration: configuration)
        var free = names
        var numbered: [(NSEntityDescription, Int)] = []
        func match(_ entities: [NSEntityDescription], by name: (NSEntityDescription) -> String?) -> [NSEntityDescription] {
            entities.filter { entity in
                guard let key = name(entity), let number = free.removeValue(forKey: key) else { return true }
                numbered.append((entity, number))
                return false
            }
        }
        let computed = Dictionary(members.enumerated().map { ($0.element.index, $0.offset + 1) }) { $1 }
        let unnamed = match(match(members, by: \.name), by: \.renamingIdentifier)
        let lost = match(unnamed) { entity in free.first { $0.value == computed[entity.index] }?.key }
        if let entity = lost.first {
            throw CocoaError.coreData(
                .persistentStoreIncompatibleSchema,
                "The store has no entity \(entity.name ?? "") in \(SQLNames.entityTable)."
            )
        }
        self.init(numbered: numbered, of: model)
    }

    private init(numbered: [(NSEntityDescription, Int)], of model: NSManagedObjectModel) {
        entities = numbered.sorted { $0.1 < $1.1 }.map(\.0)
        var numbers = [Int?](repeating: nil, count: model.entitiesInIndexOrder.count)
        for (entity, number) in numbered { numbers[entity.index] = number }
        self.numbers = numbers
    }

    /// The number of an entity; nil when the store does not keep it.
    subscript(entity: NSEntityDescription) -> Int? { numbers[entity.index] }

    /// The entities of a configuration and their superentities, whose tables they live in.
    private static func members(of model: NSManagedObjectModel, configuration: String?) -> [NSEntityDescription] {
        guard let configured = model.entities(forConfigurationName: configuration) else {
            misuse("The model has no configuration \(configuration ?? ""): use one of \(model.configurations).")
        }
        let wanted = Set(configured.flatMap(\.inheritanceChain).map(\.index))
        return model.entitiesInIndexOrder.filter { wanted.contains($0.index) }
    }
}
