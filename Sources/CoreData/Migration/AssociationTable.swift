/// What became of what in one entity mapping: pairs of objects, found from either side.
///
/// Pairs of unsaved objects are kept as objects; once they are saved, as keys: 24 bytes a pair, where both sides come in the order of their keys.
struct AssociationTable {
    typealias Pair = (source: NSManagedObject, destination: NSManagedObject)

    private var (sources, destinations) = (KeyColumn(), KeyColumn())
    private var unsaved: [Pair] = []
    /// NB: a policy may reset the source's context: objects of the same rows come after that.
    private var unsavedBySource: [RowReference: [Int]] = [:]
    private var unsavedByDestination: [ObjectIdentifier: [Int]] = [:]
    /// Saved destinations that a policy has deleted since.
    private var deleted: Set<RowReference> = []

    /// How many pairs are kept as keys.
    var savedCount: Int { sources.count }
    var hasUnsaved: Bool { !unsaved.isEmpty }
    /// Whether no two source objects became one.
    var hasDistinctDestinations: Bool { destinations.isAscending }

    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        unsavedBySource[source.rowReference, default: []].append(unsaved.count)
        unsavedByDestination[ObjectIdentifier(destination), default: []].append(unsaved.count)
        unsaved.append((source, destination))
    }

    /// What was copied without objects, in the order of its keys.
    mutating func add(_ source: RowReference, _ destination: RowReference) {
        sources.append(source)
        destinations.append(destination)
    }

    /// Everything was saved: objects can be let go of. What was deleted meanwhile is nobody's.
    mutating func settle(deleted gone: Set<RowReference>) {
        if !gone.isEmpty { deleted.formUnion(gone.filter { !destinations.places(of: $0).isEmpty }) }
        for (source, destination) in unsaved where source.key > 0 && destination.key > 0 && !destination.isGone {
            sources.append(source.rowReference)
            destinations.append(destination.rowReference)
        }
        (unsaved, unsavedBySource, unsavedByDestination) = ([], [:], [:])
    }

    /// What a source object became, in the order in which it was associated.
    func destinations(of source: NSManagedObject) -> (saved: [RowReference], unsaved: [NSManagedObject]) {
        let saved = source.key > 0 ? sources.places(of: source.rowReference).map { destinations[$0] } : []
        return (remaining(saved), (unsavedBySource[source.rowReference] ?? []).map { unsaved[$0].destination })
    }

    /// What a destination object was.
    func sources(of destination: NSManagedObject) -> (saved: [RowReference], unsaved: [NSManagedObject]) {
        let saved = destination.key > 0 ? destinations.places(of: destination.rowReference).map { sources[$0] } : []
        return (saved, (unsavedByDestination[ObjectIdentifier(destination)] ?? []).map { unsaved[$0].source })
    }

    private func remaining(_ saved: [RowReference]) -> [RowReference] {
        deleted.isEmpty ? saved : saved.filter { !deleted.contains($0) }
    }

    func pairs(_ range: Range<Int>) -> [(source: RowReference, destination: RowReference)] {
        range.map { (sources[$0], destinations[$0]) }
    }

    /// All of one side: saved ones, and those that are not yet.
    var allSources: (saved: [RowReference], unsaved: [NSManagedObject]) { (sources.all, unsaved.map(\.source)) }
    var allDestinations: (saved: [RowReference], unsaved: [NSManagedObject]) { (remaining(destinations.all), unsaved.map(\.destination)) }
}

/// References in the order in which they came, which is mostly that of their keys: then they are found without anything beside them.
private struct KeyColumn {
    private var keys: ContiguousArray<Int64> = []
    private var entities: ContiguousArray<Int32> = []
    private var store: Int32 = 0
    /// The entities that there are: most mappings have nothing of what is looked for.
    private var kinds: Set<Int32> = []
    /// Whether each key is greater than the one before.
    private(set) var isAscending = true
    /// The places of each key, as soon as they do not ascend.
    private var placesByKey: [Int64: [Int]] = [:]

    var count: Int { keys.count }
    var all: [RowReference] { keys.indices.map { self[$0] } }
    subscript(place: Int) -> RowReference { RowReference(key: keys[place], entity: entities[place], store: store) }

    mutating func append(_ reference: RowReference) {
        if isAscending, let last = keys.last, reference.key <= last {
            isAscending = false
            for (place, key) in keys.enumerated() { placesByKey[key, default: []].append(place) }
        }
        if !isAscending { placesByKey[reference.key, default: []].append(keys.count) }
        keys.append(reference.key)
        if entities.last != reference.entity { kinds.insert(reference.entity) }
        entities.append(reference.entity)
        store = reference.store
    }

    /// NB: keys are unique below one root entity, and a policy may associate objects of any.
    func places(of reference: RowReference) -> [Int] {
        guard kinds.contains(reference.entity) else { return [] }
        let places = isAscending ? place(of: reference.key).map { [$0] } ?? [] : placesByKey[reference.key] ?? []
        return places.filter { entities[$0] == reference.entity }
    }

    private func place(of key: Int64) -> Int? {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? low : nil
    }
}
