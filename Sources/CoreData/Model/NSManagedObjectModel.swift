/// The entities of an object graph.
///
/// A coordinator freezes the model that it is made with: from then on, changing anything in it traps. To change it, copy it.
///
/// > Concurrency: build a model on one thread. A frozen model never changes and any thread may read it.
// Sendable: every setter traps once the model is frozen, and freezing happens before the model is shared.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
    public required override init() {}

    /// The entities, in the order in which they were set. An entity that is taken out leaves its configurations too.
    ///
    /// - Precondition: for setting, each has a name of its own and is in no other model.
    public var entities: [NSEntityDescription] {
        get { ownEntities }
        set {
            requireEditable()
            checkNames(newValue)
            ownEntities.forEach { $0.model = nil }
            newValue.forEach { $0.model = self }
            ownEntities = newValue
            entitiesByConfiguration = entitiesByConfiguration.mapValues { $0.filter { $0.model === self } }
        }
    }
    private var ownEntities: [NSEntityDescription] = []

    private func checkNames(_ entities: [NSEntityDescription]) {
        var names: Set<String> = []
        for entity in entities {
            guard let name = entity.name, !name.isEmpty else {
                misuse("An entity has no name: set it before adding the entity to a model.")
            }
            if !names.insert(name).inserted { misuse("The model gets two entities named \(name): give one of them another name.") }
            if let other = entity.model, other !== self { misuse("Entity \(name) belongs to another model: add a copy of it.") }
        }
    }

    public var entitiesByName: [String: NSEntityDescription] {
        facts?.entitiesByName ?? Dictionary(ownEntities.map { ($0.name ?? "", $0) }) { $1 }
    }

    /// Names for this version of the model, kept in the metadata of its stores.
    public var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireEditable() } }
    /// Translations of names, under keys such as `Entity/Name` and `Property/name/Entity/Name`.
    public var localizationDictionary: [String: String]? { willSet { requireEditable() } }
    /// The entities of each named configuration.
    var entitiesByConfiguration: [String: [NSEntityDescription]] = [:] { willSet { requireEditable() } }

    /// The files that it was read from which have its other versions, too.
    var versionBundles: [URL] = [] { willSet { requireEditable() } }

    /// Fetch requests by name.
    var fetchTemplates: [String: FetchTemplate] = [:] { willSet { requireEditable() } }

    /// What follows from the frozen model; nil before.
    private(set) var facts: ModelFacts?
    private let freezing = NSLock()

    /// Makes the model immutable and computes what follows from it. Calling it again does nothing; any thread may call it.
    ///
    /// - Precondition: the model is valid; `validate()` says whether it is.
    func freeze() {
        freezing.lock()
        defer { freezing.unlock() }
        guard facts == nil else { return }
        if let problem = problems().first { misuse(problem) }
        facts = ModelFacts(freezing: self)
    }

    var isFrozen: Bool { facts != nil }

    final func requireEditable() {
        if isFrozen { misuse(frozenSentence("the model")) }
    }

    /// An editable copy with copies of all entities and properties.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.takeState(of: [self], copies: EntityCopies(of: entities))
        return copy
    }

    /// Models are equal when their entities are, and are in the same configurations.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        return self === other || (entitiesByName == other.entitiesByName && namesByConfiguration == other.namesByConfiguration)
    }
    open override var hash: Int { Set(ownEntities.map(\.name)).hashValue }

    private var namesByConfiguration: [String: Set<String?>] { entitiesByConfiguration.mapValues { Set($0.map(\.name)) } }
}

/// `for entity in model` visits the entities.
extension NSManagedObjectModel: Sequence {
    public func makeIterator() -> IndexingIterator<[NSEntityDescription]> { entities.makeIterator() }
}
