import Foundation

/// A value of a transformable attribute beside the data that stands for it in the row.
struct TransformedValue {
    let data: Data
    let value: Any
    /// Why the value has no data: `data` are empty then, and the object cannot be saved.
    let failure: (any Error)?
}

/// Transient properties: no row has them, and a fault has none but defaults.
extension NSManagedObject {
    final func transientValue(_ property: NSPropertyDescription) -> Any? {
        guard let known = existingExtras?.transients[property.name] else { return (property as? NSAttributeDescription)?.defaultValue }
        return known is NSNull ? nil : known
    }

    final func setTransient(_ value: Any?, _ key: String) {
        checkQueue()
        let extras = extras
        // What a hook computes when values come in is no change: a parent context has its own.
        let isChange = !state.contains(.loading) || state.contains(.inserted)
        if isChange, extras.transientsBefore[key] == nil { extras.transientsBefore[key] = .some(extras.transients[key]) }
        extras.transients[key] = value ?? NSNull()
    }
}

/// Attributes as `Any`.
extension NSManagedObject {
    final func attributeValue(_ slot: Int, _ attribute: NSAttributeDescription) -> Any? {
        attribute.attributeType == .transformableAttributeType
            ? transformedValue(slot, attribute) : readable(currentRow.value(slot), attribute)
    }

    /// A value of a row of this object; nil, and a line in the log, where its transformer cannot read it.
    final func readable(_ value: SlotValue, _ attribute: NSAttributeDescription) -> Any? {
        reading(attribute) { try value.value(for: attribute) }
    }

    private func reading(_ attribute: NSAttributeDescription, _ read: () throws -> Any?) -> Any? {
        do { return try read() } catch {
            registeredContext?.logFailure("reading \(scope.entity.name ?? "?").\(attribute.name)", error)
            return nil
        }
    }

    private func transformedValue(_ slot: Int, _ attribute: NSAttributeDescription) -> Any? {
        reading(attribute) { try requiredValue(slot, attribute) }
    }

    /// One object as long as its data stay the same: it is kept beside the row.
    ///
    /// - Throws: why its transformer cannot read it.
    private func requiredValue(_ slot: Int, _ attribute: NSAttributeDescription) throws -> Any? {
        guard case .binary(let data) = currentRow.value(slot) else { return nil }
        if let known = existingExtras?.transformed[slot], known.data == data { return known.value }
        guard let value = try SlotValue.binary(data).value(for: attribute) else { return nil }
        extras.transformed[slot] = TransformedValue(data: data, value: value, failure: nil)
        return value
    }

    /// For who writes all values of an object, and would write nil for what its transformer cannot read.
    ///
    /// - Throws: `CocoaError` 134030, which names the attribute.
    final func requireReadableValues() throws {
        for (slot, attribute) in scope.shape.transformables {
            do { _ = try requiredValue(slot, attribute) } catch {
                throw CocoaError.coreData(
                    .persistentStoreSave,
                    "\(scope.entity.name ?? "?").\(attribute.name) would be lost, since it cannot be read: \(error.localizedDescription)",
                    userInfo: [NSUnderlyingErrorKey: error]
                )
            }
        }
    }

    final func setAttribute(_ value: Any?, _ slot: Int, _ attribute: NSAttributeDescription) {
        guard let value, !(value is NSNull) else { return write(.null, slot) }
        if attribute.attributeType == .transformableAttributeType { return setTransformed(value, slot, attribute) }
        let converted = SlotValue(value, for: attribute)
        precondition(
            converted != .null,
            """
            Unacceptable type of value for attribute \(scope.entity.name ?? "?").\(attribute.name): \(type(of: value)). It takes \
            \(attribute.attributeValueClassName ?? "another type").
            """
        )
        write(converted, slot)
    }

    /// A value that cannot be transformed is kept, and validation refuses it.
    private func setTransformed(_ value: Any, _ slot: Int, _ attribute: NSAttributeDescription) {
        var transformed: TransformedValue
        do {
            transformed = TransformedValue(data: try attribute.data(for: value), value: value, failure: nil)
        } catch {
            transformed = TransformedValue(data: Data(), value: value, failure: error)
        }
        write(.binary(transformed.data), slot)
        extras.transformed[slot] = transformed
    }

    /// What is wrong with the values of transformable attributes: their class, or that they cannot be transformed.
    final func transformationErrors() -> [any Error] {
        scope.shape.transformables.compactMap { slot, attribute in
            guard let known = existingExtras?.transformed[slot], case .binary(known.data) = currentRow.value(slot) else { return nil }
            if let failure = known.failure {
                return invalid(.managedObjectValidation, attribute.name, "cannot be stored: \(failure.localizedDescription)", known.value)
            }
            guard let name = attribute.attributeValueClassName, let wanted = NSClassFromString(name) else { return nil }
            if (known.value as? NSObject)?.isKind(of: wanted) ?? true { return nil }
            return invalid(.managedObjectValidation, attribute.name, "is \(typeName(known.value)), not \(name.withArticle)", known.value)
        }
    }
}
