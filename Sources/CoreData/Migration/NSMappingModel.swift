import Foundation
import Logging
import ModelCompiler
import ModelFormat
import Predicates
import class Predicates.NSExpression

/// How the objects of one version of a model become those of another.
open class NSMappingModel: NSObject {
    public override init() {}

    /// The mapping model in a file: a `.cdm`, and here also an `.xcmappingmodel`, whose entity mappings have version hashes where the build plugin has
    /// put them beside it.
    ///
    /// Nil for a file that is not there or cannot be used; the log says why.
    public init?(contentsOf url: URL?) {
        super.init()
        guard let url else { return nil }
        do {
            let mapping = try url.pathExtension == "xcmappingmodel" ? MappingModel(source: url) : MappingModel(compiled: url)
            mappings = try mapping.entityMappings.map(NSEntityMapping.init)
            if url.pathExtension == "xcmappingmodel" { try completeSource(url) }
        } catch {
            _ = FailureLog.noted("The mapping model at \(url.path) was not read", error)
            return nil
        }
    }

    /// The mapping model in the bundles, of the main bundle for nil, that leads from the one model to the other: the first `.cdm` or `.xcmappingmodel`
    /// whose version hashes are theirs. Nil where there is none.
    public convenience init?(
        from bundles: [Bundle]?,
        forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel else { return nil }
        let found = ModelPlaces(bundles ?? [.main]).mappings.first {
            NSMappingModel(contentsOf: $0)?.leads(from: sourceModel, to: destinationModel) ?? false
        }
        self.init(contentsOf: found)
    }

    /// The mapping that follows from the two models alone.
    ///
    /// Things go together that have the same name, or of which the newer one's `renamingIdentifier` is the name or the identifier of the older one.
    /// `coredata model diff` says the same in words. Both models can no longer be changed.
    ///
    /// - Throws: `CocoaError` 134190 that names entity, property and reason, where it does not follow.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel,
        destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let transition = ModelTransition(from: sourceModel, to: destinationModel)
        try transition.requireInferable()
        let model = NSMappingModel()
        model.mappings = MappingInference(transition: transition).entityMappings()
        return model
    }

    /// The entity mappings, in the order in which a migration uses them.
    open var entityMappings: [NSEntityMapping]! {
        get { mappings }
        set { mappings = newValue ?? [] }
    }
    private var mappings: [NSEntityMapping] = []

    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary(mappings.map { ($0.name ?? "", $0) }) { first, _ in first }
    }

    /// Whether every entity mapping is between entities of these two models in these versions, and no entity that has objects is left out: one that is
    /// would mean that the mapping was made for other versions, of which some entities are the same.
    private func leads(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> Bool {
        let fits = mappings.allSatisfy { mapping in
            source.has(mapping.sourceEntityName, mapping.sourceEntityVersionHash)
                && destination.has(mapping.destinationEntityName, mapping.destinationEntityVersionHash)
        }
        return !mappings.isEmpty && fits && source.concreteNames.isSubset(of: mappings.compactMap(\.sourceEntityName))
            && destination.concreteNames.isSubset(of: mappings.compactMap(\.destinationEntityName))
    }
}

extension NSManagedObjectModel {
    /// The entities that have objects.
    fileprivate var concreteNames: Set<String> { Set(entities.filter { !$0.isAbstract }.compactMap(\.name)) }

    /// Whether there is an entity of that version; true for no entity.
    fileprivate func has(_ name: String?, _ hash: Data?) -> Bool { name.map { entityVersionHashesByName[$0] == hash } ?? true }
}

extension NSEntityMapping {
    fileprivate convenience init(_ mapping: MappingModel.EntityMapping) throws {
        self.init()
        name = mapping.name
        mappingType = NSEntityMappingType(rawValue: UInt(mapping.kind.rawValue)) ?? .undefinedEntityMappingType
        (sourceEntityName, sourceEntityVersionHash) = (mapping.sourceEntity, mapping.sourceVersionHash)
        (destinationEntityName, destinationEntityVersionHash) = (mapping.destinationEntity, mapping.destinationVersionHash)
        entityMigrationPolicyClassName = mapping.migrationPolicyClassName
        sourceExpression = mapping.fetchesAll ? nil : try mapping.sourceExpression.map { try NSExpression.make($0.request) }
        attributeMappings = try mapping.attributeMappings.map(NSPropertyMapping.init)
        relationshipMappings = try mapping.relationshipMappings.map(NSPropertyMapping.init)
        userInfo = mapping.userInfo.plain
    }
}

extension NSMappingModel {
    /// What the compiler of mapping models adds to their source; the build plugin writes the version hashes beside it.
    private func completeSource(_ folder: URL) throws {
        let file = folder.appendingPathComponent(MappingModel.hashesFile)
        let hashes = FileManager.default.fileExists(atPath: file.path) ? try MappingModel.Hashes(file: file) : nil
        for mapping in mappings {
            mapping.completeSource()
            mapping.sourceEntityVersionHash = mapping.sourceEntityName.flatMap { hashes?.source[$0] }
            mapping.destinationEntityVersionHash = mapping.destinationEntityName.flatMap { hashes?.destination[$0] }
        }
    }
}

extension NSEntityMapping {
    /// What the compiler of mapping models adds to their source.
    fileprivate func completeSource() {
        if mappingType == .undefinedEntityMappingType { mappingType = .transformEntityMappingType }
        for mapping in (attributeMappings ?? []) + (relationshipMappings ?? []) where mapping.valueExpression == nil {
            mapping.followsFromName = true
        }
    }
}

extension Model.Expression {
    /// The request of a fetch, which the migration carries out itself.
    fileprivate var request: Model.Expression { if case .fetch(let request, _, false) = self { request } else { self } }
}

extension MappingModel.EntityMapping {
    /// Whether the expression is the one that Xcode writes where nobody has chosen among the source objects.
    fileprivate var fetchesAll: Bool {
        guard case .fetch(request: .call(_, _, let arguments), context: _, countOnly: false) = sourceExpression,
            case .constant(.string(let condition)?)? = arguments.last
        else { return false }
        return condition == "TRUEPREDICATE"
    }
}

extension NSPropertyMapping {
    fileprivate convenience init(_ mapping: MappingModel.PropertyMapping) throws {
        self.init()
        name = mapping.name
        valueExpression = try mapping.expression.map(NSExpression.make)
        userInfo = mapping.userInfo.plain
    }
}
