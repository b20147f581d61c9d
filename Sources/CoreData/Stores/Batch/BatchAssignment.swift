import Foundation
import Predicates
import class Predicates.NSExpression

/// What a batch update writes into one property.
package struct BatchAssignment {
    enum Value {
        case constant(SlotValue)
        case expression(NSExpression)
    }

    let property: NSPropertyDescription
    let value: Value

    var name: String { property.name }

    /// - Parameter reference: what an ID, or an object, is under the coordinator; nil for what is in none of its stores.
    /// - Throws: a `CocoaError` that names entity and key.
    init(_ key: String, _ value: Any?, _ entity: NSEntityDescription, reference: (RowIdentity) -> RowReference?) throws {
        let given = BatchValue(entity: entity, key: key)
        property = try given.storedProperty
        if let expression = value as? NSExpression {
            if case .constant(let constant) = expression.tree {
                self.value = .constant(try given.value(constant, property, reference))
            } else if property is NSAttributeDescription {
                self.value = .expression(expression)
            } else {
                throw given.error(.coreData, "is a relationship, and takes an object ID or nil, no expression")
            }
        } else {
            self.value = .constant(try given.value(value, property, reference))
        }
    }
}

/// One value of a batch request, on its way into a row.
struct BatchValue {
    let entity: NSEntityDescription
    let key: String

    func error(_ code: CocoaError.Code, _ what: String, _ value: Any? = nil, hint: String = "") -> CocoaError {
        var info: [String: Any] = [NSValidationKeyErrorKey: key]
        info[NSValidationValueErrorKey] = value
        return .coreData(code, "\(entity.name ?? "?").\(key) \(what).\(hint)", userInfo: info)
    }

    /// The property that a batch request can write.
    var storedProperty: NSPropertyDescription {
        get throws {
            guard let property = entity.propertiesByName[key] else {
                throw error(.coreData, "is not there: the entity has no such property", hint: entity.hint(for: key))
            }
            if property.isTransient { throw error(.coreData, "is transient: no store has it") }
            switch property {
            case is NSDerivedAttributeDescription: throw error(.coreData, "is derived: the store computes it from what it is derived from")
            case is NSAttributeDescription: return property
            case let relationship as NSRelationshipDescription:
                if relationship.isToMany {
                    throw error(.coreData, "is a to-many relationship: a batch request sets the other end, or objects do")
                }
                return relationship
            default: throw error(.coreData, "is no attribute and no relationship")
            }
        }
    }

    /// A value as the row holds it.
    func value(_ value: Any?, _ property: NSPropertyDescription, _ reference: (RowIdentity) -> RowReference?) throws -> SlotValue {
        // NB: a nil may come in a box, as an `Any` that holds an optional.
        guard let value = unwrapped(value), !(value is NSNull) else {
            if !property.isOptional { throw missing }
            return .null
        }
        if let attribute = property as? NSAttributeDescription { return try self.value(value, attribute) }
        guard let relationship = property as? NSRelationshipDescription else { throw error(.coreData, "cannot be written") }
        return .reference(try target(value, relationship, reference))
    }

    var missing: CocoaError { error(.validationMissingMandatoryProperty, "is required and has no value") }

    private func value(_ value: Any, _ attribute: NSAttributeDescription) throws -> SlotValue {
        if attribute.attributeType == .transformableAttributeType {
            do { return .binary(try attribute.data(for: value)) } catch let failure {
                throw error(.managedObjectValidation, "cannot be stored: \(failure.localizedDescription)", value)
            }
        }
        guard let stored = SlotValue(given: value, for: attribute) else {
            switch SlotValue(value, for: attribute) {
            case .integer, .float: if let number = value as? NSNumber { throw misfit(number) }
            default: break
            }
            let kind = attribute.attributeValueClassName ?? "another type"
            throw error(.managedObjectValidation, "takes \(kind.withArticle), not \(typeName(value))", value)
        }
        if stored.isNaN { throw error(.managedObjectValidation, "is not a number") }
        return stored
    }

    /// Of a number that an attribute cannot hold.
    func misfit(_ number: NSNumber) -> CocoaError {
        let value = number.doubleValue
        if value.isNaN { return error(.managedObjectValidation, "is not a number") }
        if value.isFinite, value != value.rounded() {
            return error(.managedObjectValidation, "takes a whole number, not \(number)", number)
        }
        return error(value < 0 ? .validationNumberTooSmall : .validationNumberTooLarge, "has no room for \(number)", number)
    }

    private func target(
        _ value: Any,
        _ relationship: NSRelationshipDescription,
        _ reference: (RowIdentity) -> RowReference?
    ) throws -> RowReference {
        guard let identity = (value as? any RowIdentifying)?.identity else {
            throw error(.managedObjectValidation, "takes an object ID, not \(typeName(value))", value)
        }
        guard identity.key > 0 else {
            throw error(.managedObjectReferentialIntegrity, "was set to an object that has never been saved: no store has it")
        }
        guard let target = reference(identity) else {
            throw error(.managedObjectExternalRelationship, "was set to an object of a store that is not here")
        }
        guard identity.space.entity(in: entity.managedObjectModel)?.isKindOf(entity: relationship.destination) == true else {
            let (wanted, given) = (relationship.destination.name ?? "?", identity.space.entityName)
            throw error(.managedObjectValidation, "takes \(wanted.withArticle), not \(given.withArticle)", value)
        }
        return target
    }
}

extension SlotValue {
    fileprivate var isNaN: Bool {
        switch self {
        case .float(let number): number.isNaN
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}
