import Foundation

extension NSManagedObject {
    /// A typed name of an attribute: what an accessor of a subclass is built on.
    ///
    /// Resolved to a place in the row once per layout; then a read is a compare and a load. Where `Value` is not the attribute's own type
    /// (`Int` for an Integer 16, say) the value is converted, by name.
    public struct Attribute<Value: ManagedValue>: NamedKey, Sendable {
        @usableFromInline let cache: SlotCache.Reference
        public init(_ name: StaticString) {
            cache = SlotCache.named(name, kind: SlotKind(rawValue: Value.slotKind))
        }

        /// The attribute's name, for predicates, sort descriptors and `value(forKey:)`.
        public var name: String { cache.name }
    }

    /// A typed name of a to-one relationship.
    public struct ToOne<Target: NSManagedObject>: NamedKey, Sendable {
        let cache: SlotCache.Reference
        public init(_ name: StaticString) { cache = SlotCache.named(name, kind: .reference) }

        /// The relationship's name.
        public var name: String { cache.name }
    }

    /// A typed name of a to-many relationship.
    public struct ToMany<Target: NSManagedObject>: NamedKey, Sendable {
        /// The relationship's name.
        public let name: String
        public init(_ name: StaticString) { self.name = "\(name)" }
    }

    /// A typed name of an ordered to-many relationship.
    public struct OrderedToMany<Target: NSManagedObject>: NamedKey, Sendable {
        /// The relationship's name.
        public let name: String
        public init(_ name: StaticString) { self.name = "\(name)" }
    }

    /// The value of an attribute. Reading fires a fault; setting marks the object as updated, also with an equal value.
    ///
    /// - Precondition: the entity has an attribute of that name, and its values are of the accessor's type, or numbers as that is.
    @inlinable public final subscript<Value: ManagedValue>(attribute: Attribute<Value>) -> Value {
        get {
            let slot = slot(attribute.cache)
            if slot < 0 { return namedValue(attribute.cache.name) }
            return Value.read(self, slot: slot)
        }
        set {
            let slot = slot(attribute.cache)
            if slot < 0 { return setStoredValue(newValue.asAny, forKey: attribute.cache.name) }
            Value.write(newValue, to: self, slot: slot)
        }
    }

    /// A value that goes by name, as the accessor's type. What is of another type is no nil: it would be read as 0 or as empty.
    @usableFromInline final func namedValue<Value: ManagedValue>(_ name: String) -> Value {
        let value = storedValue(forKey: name)
        if let value, !Value.takes(value) {
            misuse("\(scope.entity.name ?? "?").\(name) is \(typeName(value)), and its accessor an Attribute<\(Value.self)>.")
        }
        return Value.fromAny(value)
    }

    /// The object at the other end of a to-one relationship; setting it updates the inverse on both sides.
    ///
    /// - Precondition: the entity has a to-one relationship of that name; a new value is in the same context.
    public final subscript<Target: NSManagedObject>(relationship: ToOne<Target>) -> Target? {
        get {
            let slot = slot(relationship.cache)
            // The model says which entity the target is of, and the entity which class; a wrong `Target` is a mistake in the subclass.
            return target(toOneSlot(slot, relationship.cache.name)).map {
                cast($0, relationship.cache.name)
            }
        }
        set {
            let slot = slot(relationship.cache)
            setTarget(newValue, toOneSlot(slot, relationship.cache.name))
        }
    }

    private func toOneSlot(_ slot: Int, _ name: String) -> Int {
        precondition(slot >= 0, "\(scope.entity.name ?? "?") has no to-one relationship \"\(name)\".")
        return slot
    }

    /// The objects of a to-many relationship, as they are now; setting them updates the inverses.
    ///
    /// - Precondition: the entity has a to-many relationship of that name; new values are in the same context.
    /// - Complexity: O(n); one statement where the relationship has not been read yet.
    public final subscript<Target: NSManagedObject>(relationship: ToMany<Target>) -> Set<Target> {
        get { Set(members(of: toManyIndex(relationship.name)).map { cast($0, relationship.name) }) }
        set { setMembers(Array(newValue), of: toManyIndex(relationship.name)) }
    }

    /// The objects of an ordered to-many relationship, in order; setting them updates the inverses.
    ///
    /// - Precondition: the entity has a to-many relationship of that name; new values are distinct and in the same context.
    /// - Complexity: O(n); one statement where the relationship has not been read yet.
    public final subscript<Target: NSManagedObject>(relationship: OrderedToMany<Target>) -> [Target] {
        get { members(of: toManyIndex(relationship.name)).map { cast($0, relationship.name) } }
        set { setMembers(newValue, of: toManyIndex(relationship.name)) }
    }

    private func cast<Target: NSManagedObject>(_ object: NSManagedObject, _ name: String) -> Target {
        guard let target = object as? Target else {
            fatalError(
                """
                \(scope.entity.name ?? "?").\(name) holds \(typeName(object)), not \("\(Target.self)".withArticle): set managedObjectClassName of entity \
                \(object.scope.entity.name ?? "?") to NSStringFromClass(\(Target.self).self).
                """
            )
        }
        return target
    }
}

extension NSManagedObject {
    /// Adds one object to a to-many relationship; at the end of an ordered one.
    public final func add<Target: NSManagedObject>(_ object: Target, to relationship: ToMany<Target>) {
        addMember(object, to: toManyIndex(relationship.name))
    }

    /// Takes one object out of a to-many relationship.
    public final func remove<Target: NSManagedObject>(_ object: Target, from relationship: ToMany<Target>) {
        removeMember(object, from: toManyIndex(relationship.name))
    }

    /// Adds one object at the end of an ordered to-many relationship.
    public final func add<Target: NSManagedObject>(_ object: Target, to relationship: OrderedToMany<Target>) {
        addMember(object, to: toManyIndex(relationship.name))
    }

    /// Takes one object out of an ordered to-many relationship.
    public final func remove<Target: NSManagedObject>(_ object: Target, from relationship: OrderedToMany<Target>) {
        removeMember(object, from: toManyIndex(relationship.name))
    }

    func toManyIndex(_ name: String) -> Int {
        guard case .toMany(let index, _)? = scope.shape.properties[name] else {
            fatalError("\(scope.entity.name ?? "?") has no to-many relationship \"\(name)\".")
        }
        return index
    }
}
