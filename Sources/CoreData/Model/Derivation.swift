import Predicates

/// What a derived attribute is computed from, as far as stores compute it.
///
/// The forms are those that `NSDerivedAttributeDescription` documents.
enum Derivation {
    enum Function: String {
        case canonical = "canonical:"
        case uppercase = "uppercase:"
        case lowercase = "lowercase:"
    }

    /// The time at which the object was last saved.
    case now
    /// An attribute of the object, or of the one that to-one relationships lead to, as it is or by a function.
    case value([NSRelationshipDescription], NSAttributeDescription, Function?)
    /// The number of objects in a to-many relationship.
    case count(NSRelationshipDescription)
    /// The sum of what the objects in a to-many relationship have for an attribute.
    case sum(NSRelationshipDescription, NSAttributeDescription)

    /// - Throws: `CocoaError.coreData` that names the attribute, and says what can be computed.
    init(_ attribute: NSDerivedAttributeDescription) throws {
        guard let entity = attribute.owner, let expression = attribute.derivationExpression,
            let derivation = Self(expression, of: entity), derivation.fits(attribute), !derivation.leads(to: attribute)
        else { throw attribute.cannotBeDerived }
        self = derivation
    }

    private init?(_ expression: NSExpression, of entity: NSEntityDescription) {
        switch expression.tree {
        case .keyPath(nil, let path): self.init(path: path, of: entity)
        case .function("now", let arguments) where arguments.isEmpty: self = .now
        case .function(let name, let arguments):
            guard arguments.count == 1, case .keyPath(nil, let path) = arguments[0].tree else { return nil }
            self.init(name, path, of: entity)
        default: return nil
        }
    }

    private init?(_ name: String, _ path: String, of entity: NSEntityDescription) {
        switch name {
        case "count:": self.init(path: path + ".@count", of: entity)
        case "sum:": self.init(path: path + ".@sum", of: entity)
        default:
            guard let function = Function(rawValue: name), case .value(let links, let attribute, nil)? = Self(path: path, of: entity),
                attribute.attributeType == .stringAttributeType
            else { return nil }
            self = .value(links, attribute, function)
        }
    }

    private init?(path: String, of entity: NSEntityDescription) {
        let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if keys.contains(where: { $0.hasPrefix("@") }) {
            self.init(aggregate: keys, of: entity)
        } else {
            self.init(value: keys, of: entity)
        }
    }

    /// `pages.@count`, `items.price.@sum` or `items.@sum.price`.
    private init?(aggregate keys: [String], of entity: NSEntityDescription) {
        guard let members = entity.propertiesByName[keys[0]] as? NSRelationshipDescription, members.isToMany, !members.isTransient else {
            return nil
        }
        let rest = Array(keys.dropFirst())
        if rest == ["@count"] {
            self = .count(members)
        } else if rest.count == 2, let place = rest.firstIndex(of: "@sum"),
            let attribute = members.destination.storedAttribute(rest[1 - place]), attribute.attributeType.isNumeric
        {
            self = .sum(members, attribute)
        } else {
            return nil
        }
    }

    private init?(value keys: [String], of entity: NSEntityDescription) {
        var (links, owner): ([NSRelationshipDescription], NSEntityDescription) = ([], entity)
        for key in keys.dropLast() {
            guard let link = owner.propertiesByName[key] as? NSRelationshipDescription, !link.isToMany, !link.isTransient else {
                return nil
            }
            links.append(link)
            owner = link.destination
        }
        // NB: data that may be in a file of their own have only its name in the row.
        guard let name = keys.last, let attribute = owner.storedAttribute(name), !attribute.allowsExternalBinaryDataStorage else {
            return nil
        }
        self = .value(links, attribute, nil)
    }

    /// The attribute whose values are used.
    private var source: NSAttributeDescription? {
        switch self {
        case .now, .count: nil
        case .value(_, let attribute, _), .sum(_, let attribute): attribute
        }
    }

    /// Whether it is computed from the attribute, perhaps by others that are derived: of a circle nothing would be the first value.
    private func leads(to attribute: NSDerivedAttributeDescription) -> Bool {
        var (next, seen) = (source, Set<ObjectIdentifier>())
        while let derived = next as? NSDerivedAttributeDescription, seen.insert(ObjectIdentifier(derived)).inserted {
            if derived === attribute { return true }
            guard let entity = derived.owner, let expression = derived.derivationExpression else { return false }
            next = Self(expression, of: entity)?.source
        }
        return false
    }

    /// Whether the attribute's type can hold what is computed.
    private func fits(_ derived: NSAttributeDescription) -> Bool {
        switch self {
        case .now: derived.attributeType == .dateAttributeType
        case .value(_, let attribute, _): derived.attributeType == attribute.attributeType
        case .count, .sum: derived.attributeType.isNumeric
        }
    }
}

extension NSEntityDescription {
    fileprivate func storedAttribute(_ name: String) -> NSAttributeDescription? {
        propertiesByName[name].flatMap { $0.isTransient ? nil : $0 as? NSAttributeDescription }
    }
}

extension NSAttributeType {
    fileprivate var isNumeric: Bool {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType, .doubleAttributeType,
            .floatAttributeType:
            true
        default: false
        }
    }
}

extension NSDerivedAttributeDescription {
    fileprivate var cannotBeDerived: CocoaError {
        .coreData(
            .coreData,
            """
            The derived attribute \(name) of entity \(owner?.name ?? "") has the derivation \(derivation?.description ?? "nil"), which \
            cannot be computed: use a key path over to-one relationships to an attribute of the same type, canonical:, uppercase: or lowercase: \
            of a text, a to-many relationship's @count or @sum of a number, or now(); and nothing that is derived from the attribute itself.
            """,
            userInfo: ["entity": owner?.name ?? "", "property": name]
        )
    }
}
