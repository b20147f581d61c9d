import ModelFormat

/// An entity as a Swift class and its properties.
///
/// NB: a target may have the main actor as its default isolation, as new projects of Xcode's do. Objects belong to the queue of their context.
struct EntitySource {
    private let entity: Model.Entity
    private let className: String
    private let options: GenerationOptions
    private let names: ClassNames
    private let attributes: [AttributeSource]
    private let relationships: [RelationshipSource]
    /// The names of what the entity has from those above: a class's `Keys` hide those of the one that it inherits from.
    private let inheritedKeys: [String]
    private let members: MemberNames

    /// Nil where the model has no class for the entity, or wants no source.
    init?(_ entity: Model.Entity, _ options: GenerationOptions, _ names: ClassNames) {
        guard entity.hasGeneratedProperties, let className = entity.plainClassName else { return nil }
        self.entity = entity
        self.className = className
        self.options = options
        self.names = names
        let ancestors = names.ancestors(of: entity)
        let members = MemberNames([entity] + ancestors)
        self.members = members
        attributes = entity.attributes.map { AttributeSource($0, options, names, members) }
        relationships = entity.relationships.map { RelationshipSource($0, options, names, members) }
        let inherited = ancestors.flatMap { $0.attributes.compactMap { AttributeSource($0, options, names, members).key } }
        inheritedKeys = inherited + ancestors.flatMap { $0.relationships.map { RelationshipSource($0, options, names, members).key } }
    }

    /// The class's name in a declaration.
    private var declaredName: String { SwiftNames.quoted(className) }

    func files() -> [GeneratedFile] {
        let properties = GeneratedFile(name: "\(className)+CoreDataProperties.swift", text: sourceText(declarations: propertyLines))
        guard entity.codeGeneration == .class else { return [properties] }
        return [GeneratedFile(name: "\(className)+CoreDataClass.swift", text: sourceText(declarations: classLines)), properties]
    }

    /// The class, if the model wants one, and what it has, without imports.
    var declarations: [String] { (entity.codeGeneration == .class ? classLines + [""] : []) + propertyLines }

    private var classLines: [String] {
        let head = "\(options.access)nonisolated class \(declaredName): \(names.superclassName(of: entity)) {"
        let overrides = options.overrides[className] ?? []
        return overrides.isEmpty ? [head + "}"] : [head] + overrides.map { "    " + $0 } + ["}"]
    }

    private var propertyLines: [String] {
        let members = [keyLines, fetchLines] + attributes.map(\.property) + relationships.map(\.property) + fetchedProperties
        let blocks = (members + relationships.map(\.methods)).filter { !$0.isEmpty }
        let body = blocks.joined(separator: [""]).map { $0.isEmpty ? "" : "    " + $0 }
        return ["nonisolated extension \(declaredName) {"] + body + ["}"] + plainProperties + identity + keyPathNames
    }

    /// An extension of a protocol: what the class itself declares comes first wherever both would do.
    private var plainProperties: [String] {
        let properties = relationships.map { $0.plainProperty(of: names.name(ofEntity: entity.name)) }.filter { !$0.isEmpty }
        if properties.isEmpty { return [] }
        let body = properties.joined(separator: [""]).map { $0.isEmpty ? "" : "    " + $0 }
        let head = "nonisolated extension \(names.standard("NSFetchRequestResult")) where Self: \(names.name(ofEntity: entity.name)) {"
        return ["", head] + body + ["}"]
    }

    private var keyLines: [String] {
        let keys = attributes.compactMap(\.key) + relationships.map(\.key) + inheritedKeys
        if keys.isEmpty { return [] }
        return ["/// The names of attributes and relationships, with their types.", "\(options.access)enum \(members.keys) {"]
            + keys.map { "    " + $0 } + ["}"]
    }

    private var fetchLines: [String] {
        let request = "\(names.standard("NSFetchRequest"))<\(names.name(ofEntity: entity.name))>"
        return [
            "\(options.access)class func fetchRequest() -> \(request) {",
            "    \(request)(entityName: \(SwiftNames.literal(entity.name)))",
            "}",
        ]
    }

    private var fetchedProperties: [[String]] {
        entity.fetchedProperties.map { property in
            let type = "[\(names.name(ofEntity: property.request.entity))]"
            return [
                "\(options.access)var \(SwiftNames.quoted(property.name)): \(type) {",
                "    value(forKey: \(SwiftNames.literal(property.name))) as? \(type) ?? []",
                "}",
            ]
        }
    }

    /// Swift's key paths have no names. The topmost class says those of the classes below it too: an extension overrides nothing.
    private var keyPathNames: [String] {
        guard names.superclassName(of: entity) == ClassNames.base else { return [] }
        let type = "[\(names.standard("AnyKeyPath")): \(names.standard("String"))]"
        let lines = names.keyPaths(from: entity).map { "        names[\\\($0.type).\($0.property)] = \(SwiftNames.literal($0.name))" }
        if lines.isEmpty { return [] }
        return ["", "nonisolated extension \(declaredName): \(names.standard("KeyPathNaming")) {"]
            + ["    \(options.access)static var keyPathNames: \(type) {", "        var names: \(type) = [:]"]
            + lines + ["        return names", "    }", "}"]
    }

    /// A class below another one has the conformance from there.
    private var identity: [String] {
        let isHashable = zip(entity.attributes, attributes).allSatisfy { $0.name != "id" || $1.isHashable }
        guard names.superclassName(of: entity) == ClassNames.base, isHashable else { return [] }
        return ["", "nonisolated extension \(declaredName): \(names.standard("Identifiable")) {}"]
    }
}

/// The text of a file with imports and declarations.
public func sourceText(declarations: [String]) -> String {
    (["// Made from a data model. What is changed here is lost when it is made again.", "", "import CoreData", "import Foundation", ""]
        + declarations).joined(separator: "\n") + "\n"
}
