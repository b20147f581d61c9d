import ModelFormat

/// Compares two versions whose entities it has paired once.
struct DifferenceFinder {
    private let pairing: ModelPairing
    private var old: EntityFamily { pairing.old }
    private var new: EntityFamily { pairing.new }

    init(_ pairing: ModelPairing) { self.pairing = pairing }

    func difference() -> ModelDifference {
        var difference = ModelDifference()
        for pair in pairing.entities {
            guard let old = pair.old else {
                difference.step(pair.new.name, "is new")
                for attribute in pair.new.attributes { requireValue(attribute, pair.new.name, &difference) }
                continue
            }
            compareHeads(old, pair.new, &difference)
            compareAttributes(old, pair.new, &difference)
            compareRelationships(old, pair.new, &difference)
        }
        for entity in pairing.gone { difference.step(entity.name, "is gone, and its objects with it") }
        compareTrees(&difference)
        compareMoved(&difference)
        return difference
    }

    private func compareHeads(_ old: Model.Entity, _ new: Model.Entity, _ difference: inout ModelDifference) {
        if old.name != new.name { difference.step(new.name, "was \(old.name)") }
        let parent = old.parent.map { pairing.successor(of: $0) ?? $0 }
        if parent != new.parent {
            difference.step(new.name, "inherits from \(new.parent ?? "no entity"), not from \(old.parent ?? "none")")
        }
        if old.isAbstract != new.isAbstract {
            difference.step(new.name, new.isAbstract ? "becomes abstract: migrating fails where it has objects" : "is no longer abstract")
        }
        if old.versionHashModifier != new.versionHashModifier { difference.step(new.name, "has another version hash modifier") }
        compareConstraints(old, new, &difference)
        if old.indexes != new.indexes { difference.step(new.name, "has other indexes, which need no migration") }
    }

    private func compareConstraints(_ old: Model.Entity, _ new: Model.Entity, _ difference: inout ModelDifference) {
        for names in new.uniquenessConstraints where !old.uniquenessConstraints.contains(names) {
            difference.step(new.name, "is unique in \(names.joined(separator: ", ")): the migration fails where objects are equal in it")
        }
        for names in old.uniquenessConstraints where !new.uniquenessConstraints.contains(names) {
            difference.step(new.name, "is no longer unique in \(names.joined(separator: ", "))")
        }
    }

    /// Entities of one tree share a table; those of different tables cannot come together.
    private func compareTrees(_ difference: inout ModelDifference) {
        var roots: [String: (entity: String, root: String)] = [:]
        for case let (before?, after) in pairing.entities {
            guard let from = old.lineage(of: before.name).last?.name, let to = new.lineage(of: after.name).last?.name else { continue }
            guard let known = roots[to] else {
                roots[to] = (after.name, from)
                continue
            }
            if known.root != from {
                difference.obstacle(after.name, "comes into one tree with \(known.entity), with which it had no common parent before")
            }
        }
    }
}

extension DifferenceFinder {
    private func compareAttributes(_ before: Model.Entity, _ after: Model.Entity, _ difference: inout ModelDifference) {
        let (pairs, gone) = paired(before.attributes, after.attributes, \.name, \.renamingIdentifier)
        for pair in pairs {
            let place = "\(after.name).\(pair.new.name)"
            if let old = pair.old {
                compareAttribute(old, pair.new, after.name, &difference)
            } else if let home = inherited(pair.new.renamingIdentifier ?? pair.new.name, by: before) {
                difference.step(place, "moves down from \(home)")
            } else if before.relationships.contains(where: { $0.name == pair.new.name }) {
                difference.obstacle(place, "was a relationship")
            } else if let move = comingUp(pair.new.name, to: after.name) {
                requireValue(pair.new, after.name, &difference)
                difference.step(place, move)
            } else {
                addAttribute(pair.new, after.name, &difference)
            }
        }
        for attribute in gone {
            difference.step(
                "\(after.name).\(attribute.name)",
                leaving(attribute.name, before.name, after.name) ?? "is gone, and its values with it"
            )
        }
    }

    /// What becomes of a property that an entity has no longer itself: it is in one above, or in some below. Nil where it is gone.
    private func leaving(_ name: String, _ before: String, _ after: String) -> String? {
        let above = new.lineage(of: after).dropFirst().first { entity in
            entity.propertyNames.contains { pairing.origin(of: $0, in: after) == name }
        }
        if let above { return "moves up to \(above.name)" }
        let below = pairing.subtree(of: after).filter { entity in
            entity.name != after && entity.propertyNames.contains { pairing.origin(of: $0, in: entity.name) == name }
        }
        guard !below.isEmpty else { return nil }
        return "moves down to \(Self.list(below.map(\.name))): the values of other objects are gone"
    }

    /// What a property comes from that entities below had themselves; nil where it is new.
    private func comingUp(_ name: String, to entity: String) -> String? {
        let below = pairing.subtree(of: entity).filter { $0.name != entity && pairing.origin(of: name, in: $0.name) != nil }
        return below.isEmpty ? nil : "moves up from \(Self.list(below.map(\.name)))"
    }

    private static func list(_ names: [String]) -> String { names.sorted().joined(separator: ", ") }

    /// The entity above that had a property.
    private func inherited(_ name: String, by entity: Model.Entity) -> String? {
        old.lineage(of: entity.parent).first { $0.propertyNames.contains(name) }?.name
    }

    private func addAttribute(_ attribute: Model.Attribute, _ entity: String, _ difference: inout ModelDifference) {
        guard !isMissed(attribute, entity) else { return requireValue(attribute, entity, &difference) }
        let value = attribute.defaultValue.map { ", with \($0.text) in the objects that are there" } ?? ""
        difference.step("\(entity).\(attribute.name)", "is new" + value)
    }

    private func requireValue(_ attribute: Model.Attribute, _ entity: String, _ difference: inout ModelDifference) {
        guard isMissed(attribute, entity) else { return }
        difference.obstacle("\(entity).\(attribute.name)", "is new and mandatory, and has no default for the objects that are there")
    }

    /// Whether there are objects that must have a value of a new attribute, and do not get any.
    private func isMissed(_ attribute: Model.Attribute, _ entity: String) -> Bool {
        guard !attribute.isTransient, attribute.derivation == nil, !attribute.isOptional, attribute.defaultValue == nil else {
            return false
        }
        return pairing.subtree(of: entity).contains { heir in
            guard !heir.isAbstract, pairing.origin(of: heir.name) != nil else { return false }
            return pairing.origin(of: attribute.name, in: heir.name) == nil
        }
    }

    private func compareAttribute(
        _ old: Model.Attribute,
        _ new: Model.Attribute,
        _ entity: String,
        _ difference: inout ModelDifference
    ) {
        let place = "\(entity).\(new.name)"
        if old.name != new.name { difference.step(place, "was \(old.name)") }
        if old.isTransient, !new.isTransient { return addAttribute(new, entity, &difference) }
        if !old.isTransient, new.isTransient { return difference.step(place, "becomes transient, and its values in the store are gone") }
        requireSameForm(old, new, place, &difference)
        if old.isOptional, !new.isOptional, new.defaultValue != nil { difference.step(place, "becomes mandatory") }
        if !old.isOptional, new.isOptional { difference.step(place, "becomes optional") }
        if old.defaultValue != new.defaultValue { difference.step(place, "has another default, which needs no migration") }
        if old.storedForm != new.storedForm { difference.step(place, "is stored in another way, or computed from something else") }
        if old.versionHashModifier != new.versionHashModifier { difference.step(place, "has another version hash modifier") }
    }

    /// Values stay as they are: no mapping that is inferred converts them. A wider number is the same number.
    private func requireSameForm(_ old: Model.Attribute, _ new: Model.Attribute, _ place: String, _ difference: inout ModelDifference) {
        if old.type != new.type {
            let change = "is \(new.type.name) and was \(old.type.name)"
            if new.type.holds(old.type) { difference.step(place, change) } else { difference.obstacle(place, change) }
        }
        if old.isOptional, !new.isOptional, new.defaultValue == nil { difference.obstacle(place, "becomes mandatory, and has no default") }
    }
}

extension DifferenceFinder {
    private func compareRelationships(_ before: Model.Entity, _ after: Model.Entity, _ difference: inout ModelDifference) {
        let (pairs, gone) = paired(before.relationships, after.relationships, \.name, \.renamingIdentifier)
        for pair in pairs {
            let place = "\(after.name).\(pair.new.name)"
            if let old = pair.old {
                compareRelationship(old, pair.new, place, &difference)
            } else if before.attributes.contains(where: { $0.name == pair.new.name }) {
                difference.obstacle(place, "was an attribute")
            } else if let home = inherited(pair.new.renamingIdentifier ?? pair.new.name, by: before) {
                difference.step(place, "moves down from \(home)")
            } else if let move = comingUp(pair.new.name, to: after.name) {
                difference.step(place, move)
            } else {
                let isMissed = !pair.new.isOptional && !pair.new.isTransient
                difference.step(place, "is new" + (isMissed ? " and mandatory: objects that are there cannot be saved without it" : ""))
            }
        }
        for relationship in gone {
            difference.step("\(after.name).\(relationship.name)", leaving(relationship.name, before.name, after.name) ?? "is gone")
        }
    }

    private func compareRelationship(
        _ old: Model.Relationship,
        _ new: Model.Relationship,
        _ place: String,
        _ difference: inout ModelDifference
    ) {
        if old.name != new.name { difference.step(place, "was \(old.name)") }
        requireSameReach(old, new, place, &difference)
        if !old.isToMany, new.isToMany { difference.step(place, "becomes to-many") }
        if old.isOrdered != new.isOrdered { difference.step(place, new.isOrdered ? "becomes ordered" : "is no longer ordered") }
        if old.isOptional != new.isOptional { difference.step(place, new.isOptional ? "becomes optional" : "becomes mandatory") }
        if old.inverse != new.inverse { difference.step(place, "has the inverse \(new.inverse ?? "none"), not \(old.inverse ?? "none")") }
        if old.deleteRule != new.deleteRule { difference.step(place, "has another delete rule, which needs no migration") }
        if [old.minCount, old.maxCount] != [new.minCount, new.maxCount], old.isToMany, new.isToMany {
            difference.step(place, "allows other numbers of objects")
        }
    }

    private func requireSameReach(
        _ old: Model.Relationship,
        _ new: Model.Relationship,
        _ place: String,
        _ difference: inout ModelDifference
    ) {
        if !pairing.leads(to: new.destination, from: old.destination) {
            difference.obstacle(place, "leads to \(new.destination ?? "nothing") and led to \(old.destination ?? "nothing")")
        }
        if old.isToMany, !new.isToMany { difference.obstacle(place, "becomes to-one, and there can be several objects") }
    }

    /// What moves up or down a tree is compared for each entity whose objects have it.
    private func compareMoved(_ difference: inout ModelDifference) {
        for case let (before?, after) in pairing.entities where after.parent != nil || before.parent != nil {
            for entity in new.lineage(of: after.name) {
                for attribute in entity.attributes {
                    guard let old = pairing.origin(of: attribute.name, in: after.name).flatMap({ old.attribute($0, of: before.name) })
                    else { continue }
                    requireSameForm(old, attribute, "\(entity.name).\(attribute.name)", &difference)
                }
                for relationship in entity.relationships {
                    guard let old = pairing.origin(of: relationship.name, in: after.name).flatMap({ old.relationship($0, of: before.name) })
                    else { continue }
                    requireSameReach(old, relationship, "\(entity.name).\(relationship.name)", &difference)
                }
            }
        }
    }
}

extension Model.Attribute {
    fileprivate var storedForm: [String] {
        ["\(allowsExternalBinaryDataStorage)", "\(preservesValueInHistoryOnDeletion)", derivation?.compiled.format ?? ""]
    }
}

extension Model.Expression {
    /// A source has a derivation as it was typed, a compiled model and a store the function that it stands for. What is no expression, which
    /// compiling the source says, differs as text.
    fileprivate var compiled: Model.Expression {
        guard case .text(let text) = self else { return self }
        return (try? ModelTextParser.predicates.expression(text)) ?? self
    }
}
