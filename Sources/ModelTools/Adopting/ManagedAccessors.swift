/// Bodies for what `@NSManaged` only declares.
struct ManagedAccessors {
    /// The declarations of typed names, in order; the bodies use them by number.
    private(set) var keys: [String] = []
    private let properties: [ManagedDeclaration.ManagedProperty]
    private let methods: [ManagedDeclaration.ManagedMethod]
    private let symbols: TargetSymbols

    /// - Parameter declarations: all of a file, which tell together which relationships are ordered.
    init(_ declarations: [ManagedDeclaration], _ symbols: TargetSymbols) {
        self.symbols = symbols
        properties = declarations.compactMap { if case .property(let property) = $0 { property } else { nil } }
        methods = declarations.compactMap { if case .method(let method) = $0 { method } else { nil } }
    }

    /// - Parameter type: the one that the declaration is a member of.
    mutating func body(of declaration: ManagedDeclaration, in type: String?) throws -> String {
        switch declaration {
        case .property(let property): try body(of: property, in: type)
        case .method(let method): try body(of: method)
        }
    }
}

extension ManagedAccessors {
    static let scalars: Set = ["Int", "Int16", "Int32", "Int64", "Double", "Float", "Bool"]
    private static let values: Set = ["String", "Date", "Data", "UUID"]

    /// The sets that are changed in place, and what gives one that tells the object.
    private static let liveSets = ["NSMutableSet": "mutableSetValue", "NSMutableOrderedSet": "mutableOrderedSetValue"]

    private mutating func body(of property: ManagedDeclaration.ManagedProperty, in type: String?) throws -> String {
        let isOptional = property.type.hasSuffix("?") || property.type.hasSuffix("!")
        let base = isOptional ? String(property.type.dropLast()) : property.type
        let name = symbols.key(of: property.name, in: type)
        if let getter = Self.liveSets[base] { return try liveSet(name, property.place, base, getter) }
        if let key = Self.primitiveKey(name) { return byName(key, base, isOptional, "primitiveValue", "setPrimitiveValue") }
        if base == "TimeInterval", !isOptional { return seconds(name) }
        if !isOptional, let rawType = symbols.rawType(of: base, in: type), Self.scalars.contains(rawType) {
            return rawValue(name, base, rawType)
        }
        guard Self.scalars.contains(base) || Self.values.contains(base) else {
            return byName(name, base, isOptional, "value", "setValue")
        }
        let key = key(name, base + (isOptional ? "?" : ""))
        return "{ get { self[\(key)] } set { self[\(key)] = newValue } }"
    }

    /// The typed name of a property, by its own name.
    private mutating func key(_ name: String, _ type: String) -> String {
        keys.append("static let key\(keys.count) = NSManagedObject.Attribute<\(type)>(\(SwiftNames.literal(name)))")
        return "ManagedKeys.key\(keys.count - 1)"
    }

    /// An `@objc` enumeration is kept as its number.
    private mutating func rawValue(_ name: String, _ type: String, _ rawType: String) -> String {
        let key = key(name, rawType)
        let message = SwiftNames.literal("\(name) is no case of \(type).")
        return "{ get { guard let found = \(type)(rawValue: self[\(key)]) else { fatalError(\(message)) }; return found } "
            + "set { self[\(key)] = newValue.rawValue } }"
    }

    /// `name` for `primitiveName`.
    private static func primitiveKey(_ name: String) -> String? {
        let rest = name.dropFirst("primitive".count)
        guard name.hasPrefix("primitive"), rest.first?.isUppercase == true else { return nil }
        return rest.prefix(1).lowercased() + rest.dropFirst()
    }

    private func byName(_ name: String, _ type: String, _ isOptional: Bool, _ getter: String, _ setter: String) -> String {
        let key = SwiftNames.literal(name)
        let found = "self.\(getter)(forKey: \(key)) as? \(type)"
        let set = "set { self.\(setter)(newValue, forKey: \(key)) }"
        if isOptional { return "{ get { \(found) } \(set) }" }
        if Self.scalars.contains(type) { return "{ get { \(found) ?? \(type == "Bool" ? "false" : "0") } \(set) }" }
        let message = SwiftNames.literal("\(name) is nil, or no \(type).")
        return "{ get { guard let found = \(found) else { fatalError(\(message)) }; return found } \(set) }"
    }

    private func liveSet(_ name: String, _ place: SourcePlace, _ type: String, _ getter: String) throws -> String {
        if let key = Self.primitiveKey(name) {
            throw SourceProblem(
                place: place,
                text: "Primitive values are no \(type) on Linux: change the relationship by \(getter)(forKey: \(SwiftNames.literal(key)))"
            )
        }
        let key = SwiftNames.literal(name)
        return "{ get { self.\(getter)(forKey: \(key)) } set { self.setValue(newValue, forKey: \(key)) } }"
    }

    /// A `TimeInterval` is a number, or a date that is wanted as a scalar.
    private func seconds(_ name: String) -> String {
        let key = SwiftNames.literal(name)
        return
            "{ get { (self.value(forKey: \(key)) as? Date)?.timeIntervalSinceReferenceDate ?? self.value(forKey: \(key)) as? Double ?? 0 } "
            + "set { self.setValue(self.entity.attributesByName[\(key)]?.attributeType == .dateAttributeType "
            + "? Date(timeIntervalSinceReferenceDate: newValue) as Any : newValue as Any, forKey: \(key)) } }"
    }
}

extension ManagedAccessors {
    private func body(of method: ManagedDeclaration.ManagedMethod) throws -> String {
        guard let call = call(for: method) else {
            throw SourceProblem(
                place: method.place,
                text: "Method \(method.name) is none of those that change a to-many relationship: write it without @NSManaged, with a body"
            )
        }
        return "{ \(call) }"
    }

    private func call(for method: ManagedDeclaration.ManagedMethod) -> String? {
        let (name, parameters) = (method.name, method.parameters)
        guard let first = parameters.first, let last = parameters.last else { return nil }
        if let former = formerCall(method, first, last) { return former }
        switch (parameters.count, parameters.count == 2 ? last.label : first.label) {
        case (1, "at"): return suffix(name, "removeFrom").map { "remove(at: \(first.name), from: \(placed($0, nil)))" }
        case (1, _): return changing(name, first)
        case (2, "at"): return suffix(name, "insertInto").map { "insert(\(first.name), into: \(placed($0, first)), at: \(last.name))" }
        case (2, "with"): return suffix(name, "replace").map { "replace(at: \(first.name), with: \(last.name), in: \(placed($0, last)))" }
        default: return nil
        }
    }

    /// The call for `addToDogs`, and for the names that older files have: `addDogsObject`, `addDogs`.
    private func changing(_ name: String, _ value: ManagedDeclaration.Parameter) -> String? {
        for (verb, preposition, prefixes) in [("add", "to", ["addTo", "add"]), ("remove", "from", ["removeFrom", "remove"])] {
            for prefix in prefixes {
                guard var relationship = suffix(name, prefix) else { continue }
                if prefix == verb, relationship.hasSuffix("Object") { relationship.removeLast("Object".count) }
                return "\(verb)(\(value.name), \(preposition): \(place(relationship, value)))"
            }
        }
        return nil
    }

    /// The call for the names that key-value coding has for ordered ones: `insertObject(_:inStepsAtIndex:)`, `removeStepsAtIndexes(_:)`.
    private func formerCall(
        _ method: ManagedDeclaration.ManagedMethod,
        _ first: ManagedDeclaration.Parameter,
        _ last: ManagedDeclaration.Parameter
    ) -> String? {
        let name = method.name
        if method.parameters.count == 1 {
            let relationship = middle(name, "removeObjectFrom", "AtIndex") ?? middle(name, "remove", "AtIndexes")
            return relationship.map { "remove(at: \(first.name), from: \(placed($0, nil)))" }
        }
        guard method.parameters.count == 2 else { return nil }
        let inserted =
            name == "insertObject" ? middle(last.label, "in", "AtIndex") : last.label == "atIndexes" ? suffix(name, "insert") : nil
        if let inserted { return "insert(\(first.name), into: \(placed(inserted, first)), at: \(last.name))" }
        guard last.label.hasPrefix("with") else { return nil }
        let replaced = middle(name, "replaceObjectIn", "AtIndex") ?? middle(name, "replace", "AtIndexes")
        return replaced.map { "replace(at: \(first.name), with: \(last.name), in: \(placed($0, last)))" }
    }

    private func middle(_ name: String, _ prefix: String, _ end: String) -> String? {
        name.hasSuffix(end) ? suffix(String(name.dropLast(end.count)), prefix) : nil
    }

    private func suffix(_ name: String, _ prefix: String) -> String? {
        let rest = name.dropFirst(prefix.count)
        return name.hasPrefix(prefix) && rest.first?.isUppercase == true ? String(rest) : nil
    }

    private func placed(_ suffix: String, _ value: ManagedDeclaration.Parameter?) -> String {
        "OrderedToMany<\(Self.element(value?.type ?? ""))>(\(SwiftNames.literal(key(suffix))))"
    }

    private func place(_ suffix: String, _ value: ManagedDeclaration.Parameter) -> String {
        if isOrdered(suffix, value) { return placed(suffix, value) }
        return "ToMany<\(Self.element(value.type))>(\(SwiftNames.literal(key(suffix))))"
    }

    /// The class of the objects that a parameter has; any where only Foundation's collections are named.
    private static func element(_ type: String) -> String {
        for (start, end) in [("Set<", ">"), ("Array<", ">"), ("[", "]")] where type.hasPrefix(start) && type.hasSuffix(end) {
            return String(type.dropFirst(start.count).dropLast(end.count))
        }
        return "NSManagedObject"
    }

    /// The relationship's name, which a property in the file tells best.
    private func key(_ suffix: String) -> String {
        properties.first { SwiftNames.capitalized($0.name) == suffix }?.name ?? suffix.prefix(1).lowercased() + suffix.dropFirst()
    }

    private func isOrdered(_ suffix: String, _ value: ManagedDeclaration.Parameter) -> Bool {
        if value.type == "NSOrderedSet" { return true }
        if let property = properties.first(where: { $0.name == key(suffix) }) { return property.type.contains("OrderedSet") }
        return methods.contains { ["insertInto\(suffix)", "replace\(suffix)"].contains($0.name) }
    }
}
