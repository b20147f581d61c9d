import Foundation
import Predicates

/// One migration from a store to another, while it lasts: create, relate, validate.
final class MigrationRun {
    unowned let manager: NSMigrationManager
    let plan: MappingPlan
    let source: MigrationSide
    let destination: MigrationSide
    /// Copies what only is copied; nil where everything goes by objects.
    let rows: RowCopy?
    /// The mapping that is at work.
    private(set) var current: PlannedMapping
    /// The mappings whose relationships went as rows, as far as they do.
    private var relatedByRows: Set<ObjectIdentifier> = []

    /// So many objects are read, and what becomes of them saved, at a time.
    static let batchSize = 500

    /// - Throws: `CocoaError` 134110 where the mapping model does not fit the models.
    init(
        _ manager: NSMigrationManager,
        _ mapping: NSMappingModel,
        from source: MigrationSide,
        to destination: MigrationSide,
        by rows: RowCopy?
    ) throws {
        plan = try MappingPlan(mapping, from: source.model, to: destination.model)
        guard let first = plan.mappings.first else {
            throw CocoaError.coreData(.migrationMissingMappingModel, "The mapping model has no entity mappings.")
        }
        (self.manager, self.source, self.destination, self.rows, current) = (manager, source, destination, rows, first)
    }

    /// Afterwards the destination is saved and valid.
    ///
    /// - Throws: `MigrationCancellation`, or a `CocoaError` 134110; the destination is unfinished then.
    func run() throws {
        let observer = observeSaves()
        defer { NotificationCenter.default.removeObserver(observer) }
        try manager.note(0)
        try eachMapping(.creation, create)
        try flush()
        try eachMapping(.relation, relate)
        try flush()
        try eachMapping(.validation) { mapping in
            try hook("performCustomValidation", mapping) {
                try mapping.policy.performCustomValidation(forMapping: mapping.mapping, manager: manager)
            }
        }
        try flush()
        try validate()
        for mapping in plan.mappings {
            current = mapping
            try hook("end", mapping) { try mapping.policy.end(mapping.mapping, manager: manager) }
        }
        try flush(.full)
        try manager.note(1)
    }

    private func create(_ mapping: PlannedMapping) throws {
        let policy = mapping.policy
        try hook("begin", mapping) { try policy.begin(mapping.mapping, with: manager) }
        // NB: a policy of the program's may make something of objects whose entity goes.
        if try !copyRows(mapping), mapping.destination != nil || mapping.hasOwnPolicy {
            let references = try sourceReferences(of: mapping)
            try inBatches(of: references.count, .creation) { range in
                for object in try source.context.objects(at: references[range]) {
                    try hook("createDestinationInstances", mapping) {
                        try policy.createDestinationInstances(forSource: present(object), in: mapping.mapping, manager: manager)
                    }
                    try manager.checkCancellation()
                }
            }
        }
        try hook("endInstanceCreation", mapping) { try policy.endInstanceCreation(forMapping: mapping.mapping, manager: manager) }
        try flushPart()
    }

    /// The object of a row as the source's context has it: a policy may have reset that since the row was read.
    private func present(_ object: NSManagedObject) -> NSManagedObject {
        object.registeredContext == nil ? source.context.object(for: object.rowReference) : object
    }

    /// The object as the destination's context has it now; nil where a policy has deleted it, for one before it.
    private func remaining(_ object: NSManagedObject) throws -> NSManagedObject? {
        guard object.registeredContext == nil else { return object.isGone ? nil : object }
        return try destination.context.objects(at: [object.rowReference]).first
    }

    private func relate(_ mapping: PlannedMapping) throws {
        let policy = mapping.policy
        try relateRowsAhead(mapping)
        let paths = mapping.relationships.compactMap(\.followed).filter(\.isToMany).map(\.name)
        var seen: Set<RowReference> = []
        if !mapping.relationships.isEmpty || mapping.hasOwnPolicy {
            try inBatches(of: mapping.associations.savedCount, .relation, isDivisible: !mapping.hasSharedOrder) { range in
                let pairs = mapping.associations.pairs(range)
                // Whoever asks for them finds them read.
                let sources = try source.context.objects(at: pairs.map(\.source)[...], reading: paths)
                for object in try destination.context.objects(at: pairs.map(\.destination)[...]) {
                    if !mapping.associations.hasDistinctDestinations, !seen.insert(object.rowReference).inserted { continue }
                    guard let object = try remaining(object) else { continue }
                    try hook("createRelationships", mapping) {
                        try policy.createRelationships(forDestination: object, in: mapping.mapping, manager: manager)
                    }
                    try manager.checkCancellation()
                }
                withExtendedLifetime(sources) {}
            }
        }
        try hook("endRelationshipCreation", mapping) { try policy.endRelationshipCreation(forMapping: mapping.mapping, manager: manager) }
        if hasUnsaved { try flush() } else if !waitsForSharedOrder { try flushPart() }
    }

    /// NB: while objects wait to be saved, the database knows nothing of what they lead to: the rows of mappings before which they wait come first.
    private func relateRowsAhead(_ mapping: PlannedMapping) throws {
        let ahead = plan.waiting(with: mapping)
        for mapping in ahead.isEmpty ? [mapping] : ahead where relatedByRows.insert(ObjectIdentifier(mapping)).inserted {
            try relateRows(mapping)
        }
    }

    /// Whether a policy has made something meanwhile, which is saved at once: a later mapping would not know of it.
    private var hasUnsaved: Bool { plan.mappings.contains { $0.associations.hasUnsaved } }

    /// Whether objects of a later mapping may have places in the order of those that were related before: they are saved together.
    private var waitsForSharedOrder: Bool { plan.waiting(with: current).dropLast().contains { $0 === current } && !hasUnsaved }

    /// What the model asks for, of every object of the destination.
    private func validate() throws {
        for entity in destination.model.entitiesInIndexOrder where !entity.isAbstract {
            if try rows?.isValid(entity) == true { continue }
            let references = try destination.context.references(of: entity)
            for start in stride(from: 0, to: references.count, by: Self.batchSize) {
                var errors: [any Error] = []
                for object in try destination.context.objects(at: references[start..<min(start + Self.batchSize, references.count)]) {
                    do { try object.validateForInsert() } catch { errors += ValidationErrors.single(error) }
                    errors += object.countErrors()
                }
                do { try ValidationErrors.throwIfAny(errors) } catch { throw invalid(entity, errors, error) }
                destination.context.refreshAllObjects()
                try manager.checkCancellation()
            }
        }
    }

    private func invalid(_ entity: NSEntityDescription, _ errors: [any Error], _ error: any Error) -> CocoaError {
        let first = errors[0] as NSError
        let more = errors.count > 1 ? " (and \(errors.count - 1) more)" : ""
        return .migration(
            "The migrated objects are not valid: \(first.localizedDescription)\(more)",
            entity: entity.name,
            property: first.userInfo[NSValidationKeyErrorKey] as? String,
            error
        )
    }
}

extension MappingPlan {
    /// The mappings from the first to the last whose objects share places in an order, if one is among them.
    fileprivate func waiting(with mapping: PlannedMapping) -> ArraySlice<PlannedMapping> {
        guard let first = mappings.firstIndex(where: \.hasSharedOrder), let last = mappings.lastIndex(where: \.hasSharedOrder),
            mappings[first...last].contains(where: { $0 === mapping })
        else { return [] }
        return mappings[first...last]
    }
}

extension PlannedMapping {
    /// Whether two objects share a place in each other's order: saved in parts, the later ones would move the former.
    fileprivate var hasSharedOrder: Bool {
        relationships.contains { assignment in
            guard let relationship = assignment.property as? NSRelationshipDescription else { return false }
            return relationship.isOrdered && relationship.inverseRelationship === relationship
        }
    }
}

/// The parts of a migration, for its progress.
enum MigrationPart: Float {
    case creation = 0
    case relation = 1
    case validation = 2
}

extension MigrationRun {
    private func eachMapping(_ part: MigrationPart, _ body: (PlannedMapping) throws -> Void) throws {
        for mapping in plan.mappings {
            current = mapping
            try body(mapping)
            try manager.note(progress(part, 1))
        }
    }

    /// - Parameter fraction: how much of the current mapping is done.
    func progress(_ part: MigrationPart, _ fraction: Float) -> Float {
        let place = Float(plan.mappings.firstIndex { $0 === current } ?? 0)
        return (part.rawValue + (place + fraction) / Float(plan.mappings.count)) / 3
    }

    private func inBatches(of count: Int, _ part: MigrationPart, isDivisible: Bool = true, _ body: (Range<Int>) throws -> Void) throws {
        let size = destination.savesInParts && isDivisible ? Self.batchSize : max(count, 1)
        for start in stride(from: 0, to: count, by: size) {
            let end = min(start + size, count)
            try body(start..<end)
            if !(part == .relation && waitsForSharedOrder) { try flushPart() }
            try manager.note(progress(part, Float(end) / Float(count)))
        }
    }

    /// Runs a hook; what it throws is underneath an error that says which.
    private func hook(_ name: String, _ mapping: PlannedMapping, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CocoaError where error.code == .migration {
            throw error
        } catch let error as MigrationCancellation {
            throw error
        } catch {
            try manager.checkCancellation()
            throw CocoaError.migration(
                "Entity mapping \(mapping.name): \(name) of \(type(of: mapping.policy)) failed: \(error.localizedDescription)",
                entity: mapping.source?.name ?? mapping.destination?.name,
                mapping: mapping.name,
                error
            )
        }
    }
}
