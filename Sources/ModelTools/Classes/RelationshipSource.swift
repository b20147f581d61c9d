import ModelFormat

/// A relationship as a property of a class, with the methods that change a to-many.
struct RelationshipSource {
    private let relationship: Model.Relationship
    private let options: GenerationOptions
    private let target: String
    private let names: ClassNames
    private let members: MemberNames

    init(_ relationship: Model.Relationship, _ options: GenerationOptions, _ names: ClassNames, _ members: MemberNames) {
        self.members = members
        self.relationship = relationship
        self.options = options
        target = names.name(ofEntity: relationship.destination)
        self.names = names
    }

    private var name: String { SwiftNames.quoted(relationship.name) }
    private var path: String { "\(members.keys).\(SwiftNames.member(relationship.name))" }
    private var suffix: String { SwiftNames.capitalized(relationship.name) }

    /// The typed name that the property is built on.
    var key: String {
        let kind = !relationship.isToMany ? "ToOne" : relationship.isOrdered ? "OrderedToMany" : "ToMany"
        return
            "\(options.access)static let \(SwiftNames.member(relationship.name)) = \(members.accessor(kind))<\(target)>(\(SwiftNames.literal(relationship.name)))"
    }

    var property: [String] {
        switch (relationship.isToMany, options.style) {
        case (false, _): property("\(target)?")
        case (true, .swift): liveProperty
        case (true, .xcode): foundationProperty
        }
    }

    private func property(_ type: String, _ path: String? = nil) -> [String] {
        let path = path ?? self.path
        return ["\(options.access)var \(name): \(type) {", "    get { self[\(path)] }", "    set { self[\(path)] = newValue }", "}"]
    }

    /// The relationship itself while it is changed in place.
    private var liveProperty: [String] {
        let type = names.standard(relationship.isOrdered ? "RelatedList" : "RelatedSet")
        return [
            "\(options.access)var \(name): \(type)<\(target)> {", "    get { self[\(path)] }", "    _modify { yield &self[\(path)] }", "}",
        ]
    }

    /// The same property with the plain type, for code that says it wants that; nothing where the property has it anyway.
    func plainProperty(of className: String) -> [String] {
        guard relationship.isToMany, options.style == .swift else { return [] }
        return property(collection, "\(className).\(path)")
    }

    private var foundationProperty: [String] {
        [
            "\(options.access)var \(name): \(collection)? {",
            "    get { foundationCollection(of: \(path)) }",
            "    set { setValue(newValue, forKey: \(SwiftNames.literal(relationship.name))) }",
            "}",
        ]
    }

    /// The type of all members together.
    private var collection: String {
        switch (options.style, relationship.isOrdered) {
        case (.xcode, true): names.standard("NSOrderedSet")
        case (.xcode, false): names.standard("NSSet")
        case (.swift, true): "[\(target)]"
        case (.swift, false): "\(names.standard("Set"))<\(target)>"
        }
    }

    /// The methods of a to-many; none for a to-one.
    var methods: [String] {
        guard relationship.isToMany else { return [] }
        return (relationship.isOrdered ? placingMethods : [])
            + method("addTo\(suffix)(_ value: \(target))", "add(value, to: \(path))")
            + method("removeFrom\(suffix)(_ value: \(target))", "remove(value, from: \(path))")
            + method("addTo\(suffix)(_ values: \(collection))", "add(values, to: \(path))")
            + method("removeFrom\(suffix)(_ values: \(collection))", "remove(values, from: \(path))")
    }

    private var placingMethods: [String] {
        let indexes = names.standard(options.style == .xcode ? "NSIndexSet" : "IndexSet")
        return method("insertInto\(suffix)(_ value: \(target), at idx: \(names.standard("Int")))", "insert(value, into: \(path), at: idx)")
            + method("removeFrom\(suffix)(at idx: \(names.standard("Int")))", "remove(at: idx, from: \(path))")
            + method("insertInto\(suffix)(_ values: [\(target)], at indexes: \(indexes))", "insert(values, into: \(path), at: indexes)")
            + method("removeFrom\(suffix)(at indexes: \(indexes))", "remove(at: indexes, from: \(path))")
            + method(
                "replace\(suffix)(at idx: \(names.standard("Int")), with value: \(target))",
                "replace(at: idx, with: value, in: \(path))"
            )
            + method(
                "replace\(suffix)(at indexes: \(indexes), with values: [\(target)])",
                "replace(at: indexes, with: values, in: \(path))"
            )
    }

    private func method(_ signature: String, _ body: String) -> [String] { ["\(options.access)func \(signature) { \(body) }"] }
}
