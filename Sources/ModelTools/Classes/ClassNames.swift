import ModelFormat

/// The classes that the entities of a model have, as its sources name them.
struct ClassNames {
    private let entities: [String: Model.Entity]
    private let moduleName: String?
    private let swiftNames: [String: String]
    private let own: Set<String>

    init(_ model: Model, _ options: GenerationOptions) {
        moduleName = options.moduleName
        swiftNames = options.classNames
        entities = Dictionary(model.entities.map { ($0.name, $0) }) { first, _ in first }
        own = Set(model.entities.compactMap(\.plainClassName))
    }

    /// The class of an entity's objects; `NSManagedObject` where the model names none.
    func name(ofEntity name: String?) -> String {
        guard let named = name.flatMap({ entities[$0]?.plainClassName }) else { return Self.base }
        let plain = swiftNames[named] ?? named
        // What objects have, and the language, would be found before a class of the module.
        let quoted = SwiftNames.quoted(plain)
        return Self.hidden.contains(plain) ? [moduleName, quoted].compactMap { $0 }.joined(separator: ".") : quoted
    }

    /// The class of the nearest entity above.
    func superclassName(of entity: Model.Entity) -> String {
        ancestors(of: entity).first { $0.plainClassName != nil }.map { name(ofEntity: $0.name) } ?? Self.base
    }

    /// A type of the standard library or Foundation, by its full name where a class of the model hides it.
    func standard(_ type: String) -> String {
        guard own.contains(type), let module = Self.homes[type] else { return type }
        return "\(module).\(type)"
    }

    /// The entities above. A model that has been read has no circles.
    func ancestors(of entity: Model.Entity) -> [Model.Entity] {
        var (found, next): ([Model.Entity], String?) = ([], entity.parent)
        while let parent = next.flatMap({ entities[$0] }), found.count < entities.count {
            found.append(parent)
            next = parent.parent
        }
        return found
    }

    /// The properties that generated classes have, from an entity's downwards, each by every class that has it: all that Swift takes in a key path.
    func keyPaths(from top: Model.Entity) -> [(type: String, property: String, name: String)] {
        entities.values.sorted { $0.name < $1.name }.flatMap { entity -> [(type: String, property: String, name: String)] in
            let line = [entity] + ancestors(of: entity)
            guard entity.hasGeneratedProperties, line.contains(where: { $0.name == top.name }) else { return [] }
            let properties = line.filter(\.hasGeneratedProperties).flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
            return properties.filter { !Self.hidden.contains($0) && !["Type", "Protocol"].contains($0) }
                .map { (name(ofEntity: entity.name), SwiftNames.quoted($0), $0) }
        }
    }

    static let base = "NSManagedObject"
    private static let hidden: Set = ["Attribute", "ToOne", "ToMany", "OrderedToMany", "Keys", "Self"]
    /// Whether a class of the model has the name.
    func isTaken(_ name: String) -> Bool { own.contains(name) }

    private static let homes = Dictionary(
        uniqueKeysWithValues: [
            "Swift": [
                "AnyKeyPath", "Bool", "Double", "Float", "Identifiable", "Int", "Int16", "Int32", "Int64", "Set", "StaticString", "String",
            ],
            "Foundation": [
                "Data", "Date", "Decimal", "IndexSet", "NSDecimalNumber", "NSIndexSet", "NSNumber", "NSObject", "NSOrderedSet", "NSSet",
                "TimeInterval", "URL", "UUID",
            ],
            "CoreData": [
                "KeyPathNaming", "NSFetchRequest", "NSFetchRequestResult", "NSManagedObjectID", "NSManagedObjectModel", "RelatedList",
                "RelatedSet",
            ],
        ].flatMap { module, names in names.map { ($0, module) } }
    )
}

extension Model.Entity {
    /// Whether the properties of its class are made from the model.
    var hasGeneratedProperties: Bool { codeGeneration != .manual && plainClassName != nil && plainClassName != ClassNames.base }
}

/// How the sources of an entity's class call what its properties could hide.
struct MemberNames {
    private let taken: Set<String>

    /// - Parameter entities: the entity and those above it.
    init(_ entities: [Model.Entity]) { taken = Set(entities.flatMap(\.propertyNames)) }

    /// The enumeration of typed names.
    var keys: String { taken.contains("Keys") ? "Keys_" : "Keys" }

    /// The type of a typed name.
    func accessor(_ name: String) -> String { taken.contains(name) ? "\(ClassNames.base).\(name)" : name }
}

extension Model {
    /// The model with its class names qualified by the module that has the classes, which is how a program on Linux finds them.
    ///
    /// Names that have a module already stay; a leading dot stands for `moduleName`.
    public func qualifyingClasses(with moduleName: String) -> Model {
        var model = self
        for index in model.entities.indices {
            guard let name = model.entities[index].plainClassName, name != ClassNames.base, !name.contains(".") else { continue }
            model.entities[index].className = "\(moduleName).\(name)"
        }
        return model
    }
}
