import ModelFormat

/// The classes that the entities of a model have, as its sources name them.
struct ClassNames {
    private let entities: [String: Model.Entity]
    private let moduleName: String?
    private let own: Set<String>

    init(_ model: Model, moduleName: String?) {
        self.moduleName = moduleName
        entities = Dictionary(model.entities.map { ($0.name, $0) }) { first, _ in first }
        own = Set(model.entities.compactMap(\.plainClassName))
    }

    /// The class of an entity's objects; `NSManagedObject` where the model names none.
    func name(ofEntity name: String?) -> String {
        guard let plain = name.flatMap({ entities[$0]?.plainClassName }) else { return Self.base }
        // The names of typed accessors would be found before a class of the module.
        return Self.accessors.contains(plain) ? [moduleName, plain].compactMap { $0 }.joined(separator: ".") : plain
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
    private func ancestors(of entity: Model.Entity) -> [Model.Entity] {
        var (found, next): ([Model.Entity], String?) = ([], entity.parent)
        while let parent = next.flatMap({ entities[$0] }), found.count < entities.count {
            found.append(parent)
            next = parent.parent
        }
        return found
    }

    static let base = "NSManagedObject"
    private static let accessors: Set = ["Attribute", "ToOne", "ToMany", "OrderedToMany", "Keys"]
    private static let homes = [
        "Set": "Swift", "String": "Swift", "Bool": "Swift", "Double": "Swift", "Float": "Swift", "Int": "Swift", "Identifiable": "Swift",
        "Any": "Swift", "Data": "Foundation", "Date": "Foundation", "UUID": "Foundation", "URL": "Foundation",
        "Decimal": "Foundation",
        "TimeInterval": "Foundation",
    ]
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
