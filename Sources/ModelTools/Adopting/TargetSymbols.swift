import ModelCompiler
import ModelFormat

/// What the sources and models of a target declare, as far as a copy needs to know it.
struct TargetSymbols {
    /// The class declarations among the excluded files, by name: the file's number and the class's body.
    private(set) var classes: [String: (file: Int, type: Int)] = [:]
    /// The classes in files that are compiled as they are.
    private(set) var ownClasses: [String: String] = [:]
    /// The classes that are made from the models.
    let generatedClasses: Set<String>
    private var members: [String: Set<String>] = [:]
    private var superclasses: [String: [String]] = [:]
    /// What `@objc(Name)` calls a class, which is what models call it.
    private var objectiveCNames: [String: String] = [:]
    /// What `@objc(name)` calls properties of a class, which is what key-value coding calls them.
    private var keys: [String: [String: String]] = [:]
    /// The classes that look keys up by themselves.
    private var lookingUp: Set<String> = []
    /// The classes that say themselves how they are read by name.
    private var readingByName: Set<String> = []
    /// The classes with `@objcMembers`.
    private var showing: Set<String> = []
    /// The raw types of enumerations, by name with the types that they are nested in.
    private var enumerations: [String: String] = [:]
    /// What a class inherits from first.
    private(set) var parents: [String: String] = [:]
    /// The classes that only a file, or a function, sees.
    private(set) var hidden: Set<String> = []
    /// The classes that say that they are no actor's.
    private var nonisolated: Set<String> = []
    /// The classes whose properties are made from the models.
    let modelledClasses: Set<String>
    private let modelled: [(model: Model, family: EntityFamily)]

    init(excluded: [SourceStructure], own: [(path: String, structure: SourceStructure)], models: [Model]) {
        modelled = models.map { ($0, EntityFamily($0)) }
        modelledClasses = Set(models.flatMap(\.entities).filter(\.hasGeneratedProperties).compactMap(\.plainClassName))
        generatedClasses = Set(models.flatMap(\.entities).filter { $0.codeGeneration == .class }.compactMap(\.plainClassName))
        for (number, structure) in excluded.enumerated() {
            for (type, declaration) in structure.types.enumerated() where declaration.isClass {
                classes[declaration.name] = (number, type)
            }
            readMembers(structure)
        }
        for (path, structure) in own {
            for declaration in structure.types where declaration.isClass { ownClasses[declaration.name] = path }
            readMembers(structure)
        }
    }

    private mutating func readMembers(_ structure: SourceStructure) {
        for type in structure.types {
            superclasses[type.name, default: []] += type.inherited
            if type.isClass { readClass(type, structure) }
            if let name = type.objectiveCName { objectiveCNames[type.name] = name }
            if structure.words(before: type.keyword).contains(where: { $0.word == "objcMembers" }) { showing.insert(type.name) }
            if structure.source[type.keyword] == "enum", let rawType = type.inherited.first { enumerations[type.name] = rawType }
        }
        for (index, token) in structure.source.tokens.enumerated() where structure.isMember[index] {
            guard let type = structure.typeOfToken[index] else { continue }
            let name = structure.types[type].name
            if ["var", "let"].contains(token.text) { readProperty(at: index, in: name, structure) }
            if token.text == "forUndefinedKey", structure.source[index - 2] == "value" { lookingUp.insert(name) }
            if token.text == "forKey", structure.source[index - 2] == "value" { readingByName.insert(name) }
        }
    }

    private mutating func readProperty(at keyword: Int, in className: String, _ structure: SourceStructure) {
        let name = structure.source[keyword + 1].unquoted
        let key = structure.objectiveCName(before: keyword) ?? name
        members[className, default: []].insert(key)
        if key != name { keys[className, default: [:]][name] = key }
    }

    private mutating func readClass(_ type: SourceStructure.TypeDeclaration, _ structure: SourceStructure) {
        let words = structure.words(before: type.keyword).map(\.word)
        parents[type.name] = type.inherited.first
        if words.contains("nonisolated") { nonisolated.insert(type.name) }
        if type.isLocal || words.contains("private") || words.contains("fileprivate") { hidden.insert(type.name) }
    }

    func isNonisolated(_ className: String) -> Bool { nonisolated.contains(className) }

    /// Whether a class that can be added to is one of managed objects, and leaves it to others to look keys up.
    func knowsManagedObject(_ className: String) -> Bool {
        guard classes[className] != nil || generatedClasses.contains(className), !lookingUp.contains(className) else { return false }
        return lineage(of: className).contains { $0 == "NSManagedObject" || generatedClasses.contains($0) }
    }

    /// Whether Objective-C sees all members of a class: it says so, or one above does.
    func showsMembers(_ className: String) -> Bool { lineage(of: className).contains(where: showing.contains) }

    /// Whether an entity has a property of that name, which a class that says how it is read by name does not take itself care of.
    func isModelled(_ name: String, in className: String) -> Bool {
        !readingByName.contains(className) && modelled.contains { $0.model.entities.contains { $0.propertyNames.contains(name) } }
    }

    /// The raw type of the enumeration that a name stands for in a type, as Swift finds it: there, above in a class, or further out.
    func rawType(of name: String, in type: String?) -> String? {
        var outer = type?.split(separator: ".") ?? []
        while !outer.isEmpty {
            for found in lineage(of: outer.joined(separator: ".")) {
                if let rawType = enumerations["\(found).\(name)"] { return rawType }
            }
            outer.removeLast()
        }
        return enumerations[name]
    }

    /// What key-value coding calls a property, which Swift may call otherwise.
    func key(of property: String, in className: String?) -> String {
        className.map(lineage)?.lazy.compactMap { keys[$0]?[property] }.first ?? property
    }

    /// The class and what it inherits from, as far as the target's sources say.
    func lineage(of className: String) -> [String] {
        var (waiting, seen): ([String], [String]) = ([className], [])
        while let name = waiting.popLast() {
            guard !seen.contains(name) else { continue }
            seen.append(name)
            waiting += superclasses[name] ?? []
        }
        return seen
    }
}

/// Key paths.
extension TargetSymbols {
    /// Says why a class has no such key path, and which of the keys it lacks; nil where it has one, or where that cannot be known.
    func problem(ofPath keys: [String], in className: String) -> (key: Int, text: String)? {
        entity(of: className).flatMap { name, family in family.entities[name].flatMap { problem(ofPath: keys, in: $0, family) } }
    }

    /// The keys of a path of properties, as far as it is known whose they are.
    func keys(ofPath properties: [String], in className: String) -> [String] {
        var owner: String? = className
        return properties.map { property in
            let key = key(of: property, in: owner)
            owner = owner.flatMap { destination(of: key, in: $0) }
            return key
        }
    }

    /// The class that a relationship of a class leads to.
    private func destination(of key: String, in className: String) -> String? {
        guard let (name, family) = lineage(of: className).lazy.compactMap(entity).first,
            let entity = family.relationship(key, of: name)?.destination
        else { return nil }
        return family.entities[entity]?.plainClassName.map { name in objectiveCNames.first { $0.value == name }?.key ?? name }
    }

    /// The name of the class's entity, and what it is related to; nil where no model of the target has one.
    func entity(of className: String) -> (name: String, family: EntityFamily)? {
        let names = [className, objectiveCNames[className] ?? className, className.split(separator: ".").last.map(String.init) ?? ""]
        for (model, family) in modelled {
            guard let entity = model.entities.first(where: { names.contains($0.plainClassName ?? $0.name) }) else { continue }
            return (entity.name, family)
        }
        return nil
    }

    private func problem(ofPath keys: [String], in first: Model.Entity, _ family: EntityFamily) -> (key: Int, text: String)? {
        var entity = first
        for (number, key) in keys.enumerated() {
            if let relationship = family.relationship(key, of: entity.name) {
                guard let next = relationship.destination.flatMap({ family.entities[$0] }) else { return nil }
                entity = next
                continue
            }
            if key.hasPrefix("@") || isKnown(key, of: entity, family) { return nil }
            let names = family.propertyNames(of: entity.name)
            let near = nearest(to: key, among: names).map { ": is \($0) meant?" } ?? ": it has \(names.joined(separator: ", "))"
            return (number, "\(entity.plainClassName ?? entity.name) has no \(key) in the model\(near)")
        }
        return nil
    }

    /// Whether the entity has an attribute of the name, all managed objects have it, or its class or one above declares it.
    private func isKnown(_ key: String, of entity: Model.Entity, _ family: EntityFamily) -> Bool {
        if SwiftNames.reserved.contains(key) || family.propertyNames(of: entity.name).contains(key) { return true }
        return family.lineage(of: entity.name).compactMap(\.plainClassName).contains { name in
            declares(key, name) || objectiveCNames.contains { $0.value == name && declares(key, $0.key) }
        }
    }

    private func declares(_ key: String, _ className: String) -> Bool {
        lineage(of: className).contains { members[$0]?.contains(key) == true }
    }
}
