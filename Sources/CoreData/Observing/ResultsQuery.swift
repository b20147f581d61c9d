import Foundation
import Predicates

/// What belongs to a list of results, in which order, and in which section: a request as a value, and what can be said of one object.
struct ResultsQuery {
    let entity: NSEntityDescription
    /// The indexes of the entities that are asked for.
    let entities: Range<Int>
    let order: ResultsOrder
    let sectionKeyPath: String?
    /// Whether the sections are read across relationships.
    let followsSections: Bool
    /// Where the name of the section is, where it is a stored attribute of the entity.
    private let sectionSlot: Int?
    /// Whether the list is a part of what belongs to it.
    let isCut: Bool
    private let stores: Set<Int32>?
    private let predicate: PredicateTree?
    /// What predicate, order and sections read.
    let paths: ReadPaths
    /// The indexes of the entities of which any of that is read, beyond the objects themselves.
    let relatedEntities: Set<Int>

    /// - Parameter stores: the numbers of those that the request names.
    init<Result>(_ request: NSFetchRequest<Result>, _ entity: NSEntityDescription, stores: Set<Int32>?, sectionKeyPath: String?) {
        let descriptors = request.sortDescriptors ?? []
        self.entity = entity
        entities = request.includesSubentities ? entity.subtree : entity.index..<entity.index + 1
        order = ResultsOrder(descriptors, entity)
        self.sectionKeyPath = sectionKeyPath
        followsSections = sectionKeyPath?.contains(".") ?? false
        if let sectionKeyPath, case .attribute(let slot, let attribute)? = entity.shape.properties[sectionKeyPath], !attribute.isTransient {
            sectionSlot = slot
        } else {
            sectionSlot = nil
        }
        isCut = request.fetchLimit > 0 || request.fetchOffset > 0
        self.stores = stores
        predicate = request.predicate?.tree
        paths = ReadPaths(predicate, descriptors + (sectionKeyPath.map { [NSSortDescriptor(key: $0, ascending: true)] } ?? []))
        relatedEntities = RelatedChanges.entities(on: paths, of: entity)
    }

    /// Whether the object is of the kind that is asked for.
    func concerns(_ object: NSManagedObject) -> Bool {
        entities.contains(Int(object.scope.entityIndex)) && (object.scope.store == 0 || stores?.contains(object.scope.store) ?? true)
    }

    /// - Throws: `CocoaError` 134060 where the predicate cannot be evaluated.
    func includes(_ object: NSManagedObject) throws -> Bool {
        guard concerns(object), object.state.isDisjoint(with: [.deleted, .detached, .inaccessible]) else { return false }
        return try predicate?.holds(for: object) ?? true
    }

    func sectionName(of object: NSManagedObject) -> String {
        guard let sectionKeyPath else { return "" }
        if let sectionSlot {
            switch object.storedValue(in: sectionSlot) {
            case .null: return ""
            case .string(let text): return text
            case .integer(let number): return "\(number)"
            case .boolean(let flag): return flag ? "1" : "0"
            default: break
            }
        }
        return object.value(forKeyPath: sectionKeyPath).map { "\($0)" } ?? ""
    }

    /// The sections of objects in order.
    ///
    /// - Throws: `CocoaError` 134060 where objects of one section do not stand together.
    func sections(of objects: [NSManagedObject]) throws -> [ResultsSection] {
        guard let sectionKeyPath else { return [ResultsSection(name: "", count: objects.count)] }
        var (sections, known): ([ResultsSection], Set<String>) = ([], [])
        for object in objects {
            let name = sectionName(of: object)
            if sections.last?.name != name {
                guard known.insert(name).inserted else { throw scattered(name, sectionKeyPath) }
                sections.append(ResultsSection(name: name, count: 0))
            }
            sections[sections.count - 1].count += 1
        }
        return sections
    }

    private func scattered(_ name: String, _ keyPath: String) -> CocoaError {
        .coreData(
            .coreData,
            """
            The objects of \(entity.name ?? "?") in the section "\(name)" do not stand together: sort by \(keyPath) first, or by something that \
            gives the same groups.
            """
        )
    }
}

/// One section of a list.
struct ResultsSection {
    let name: String
    var count: Int
}
