import Foundation

/// Validation against the model: one test of bits where all is well, one error per value where it is not.
extension NSManagedObject {
    /// As `validateValue(_:forKey:)` with `Any?`, which subclasses override, for code from a Mac: the values that it has are objects.
    public final func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
        var checked: Any? = value
        defer { value = checked.map { $0 as AnyObject } }
        try validateValue(&checked, forKey: key)
    }

    final func validateProperties() throws {
        // The common case pays for a look at the null bits and at the numbers, and for nothing else.
        if withScope({ isPlainlyValid($0) }) { return }
        var errors: [any Error] = []
        let shape = scope.shape
        if state.contains(.rowless) {
            validateToManys(&errors)
            return try ValidationErrors.throwIfAny(errors)
        }
        if !hasMandatoryValues(shape) || !hasNumbers(shape) { collectAttributeErrors(&errors) }
        errors += transformationErrors()
        for property in shape.restricted { collect(&errors) { try check(property) } }
        // A mandatory value that is missing, and has rules, was found twice.
        if errors.count > 1 { errors = Self.distinct(errors) }
        validateToManys(&errors)
        if OverrideProbe.overridesValidateValue(type(of: self)) { collectCustomErrors(&errors) }
        try ValidationErrors.throwIfAny(errors)
    }

    /// Values that no store can hold: numbers that are none or too large for their attribute, and what cannot be transformed.
    final func storageErrors() -> [any Error] {
        if state.contains(.rowless) { return [] }
        var errors = transformationErrors()
        if hasNumbers(scope.shape) { return errors }
        for (slot, property) in scope.shape.layout.slots.enumerated() where property.kind != .position {
            errors += numberErrors(slot, property.name, property.kind)
        }
        return errors
    }

    /// Counts of to-many relationships, whether they were changed or not.
    final func countErrors() -> [any Error] {
        var errors: [any Error] = []
        for (index, relationship) in scope.shape.toManys.enumerated() where relationship.minCount > 0 || relationship.maxCount > 0 {
            collect(&errors) { try validateCount(members(of: index).count, relationship) }
        }
        return errors
    }

    @inline(__always) private func isPlainlyValid(_ scope: EntityScope) -> Bool {
        !scope.validatesMore && !state.contains(.rowless) && hasMandatoryValues(scope.shape) && hasNumbers(scope.shape)
    }

    @inline(__always) private func hasMandatoryValues(_ shape: EntityShape) -> Bool {
        for (word, mandatory) in shape.mandatoryBits.enumerated() {
            let nulls = row.load(fromByteOffset: EntityLayout.nullsOffset + 4 * word, as: UInt32.self)
            if nulls & mandatory != 0 { return false }
        }
        return true
    }

    @inline(__always) private func hasNumbers(_ shape: EntityShape) -> Bool {
        for slot in shape.layout.floatingSlots {
            let isNaN =
                switch shape.layout.kinds[slot] {
                case .double, .date: slotAddress(slot).load(as: Double.self).isNaN
                case .float: slotAddress(slot).load(as: Float.self).isNaN
                default: slotAddress(slot).load(as: Decimal.self).isNaN
                }
            if isNaN { return false }
        }
        return hasFittingIntegers(shape)
    }

    /// Only key-value coding can set an integer that its attribute does not hold; no row but an own one has room for it.
    @inline(__always) private func hasFittingIntegers(_ shape: EntityShape) -> Bool {
        guard state.contains(.ownRow) else { return true }
        for slot in shape.layout.narrowSlots {
            let number = slotAddress(slot).load(as: Int64.self)
            let fits =
                shape.layout.kinds[slot] == .int16
                ? number == Int64(Int16(truncatingIfNeeded: number)) : number == Int64(Int32(truncatingIfNeeded: number))
            if !fits { return false }
        }
        return true
    }

    private func collect(_ errors: inout [any Error], _ body: () throws -> Void) {
        do { try body() } catch { errors.append(contentsOf: ValidationErrors.single(error)) }
    }

    /// One error per mandatory value that is missing and per number that is none.
    private func collectAttributeErrors(_ errors: inout [any Error]) {
        for (slot, property) in scope.shape.layout.slots.enumerated() where property.kind != .position {
            if scope.shape.isMandatory(slot), EntityLayout.isNull(row, slot) { errors.append(missing(property.name)) }
            errors += numberErrors(slot, property.name, property.kind)
        }
    }

    private func numberErrors(_ slot: Int, _ name: String, _ kind: SlotKind) -> [any Error] {
        var errors: [any Error] = []
        if let number = floating(slot), number.isNaN { errors.append(notANumber(name, number, kind == .date)) }
        if let range = Self.range(of: kind), case .integer(let number) = currentRow.value(slot), !range.contains(number) {
            errors.append(misfit(name, number, range))
        }
        return errors
    }

    private func misfit(_ key: String, _ number: Int64, _ range: ClosedRange<Int64>) -> CocoaError {
        invalid(number < 0 ? .validationNumberTooSmall : .validationNumberTooLarge, key, "takes a number in \(range)", number)
    }

    private static func range(of kind: SlotKind) -> ClosedRange<Int64>? {
        switch kind {
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        default: nil
        }
    }

    private func floating(_ slot: Int) -> Double? {
        switch currentRow.value(slot) {
        case .double(let number): number
        case .float(let number): Double(number)
        case .decimal(let number): number.isNaN ? .nan : nil
        case .date(let date): date.timeIntervalSinceReferenceDate
        default: nil
        }
    }

    // NB: of a date, the interval: printing such a date, as an error does that is printed, traps on Linux.
    private func notANumber(_ key: String, _ value: Any, _ isDate: Bool) -> CocoaError {
        isDate
            ? invalid(.validationInvalidDate, key, "is a date that is no number", value)
            : invalid(.managedObjectValidation, key, "is not a number", value)
    }

    private func missing(_ name: String) -> CocoaError {
        invalid(.validationMissingMandatoryProperty, name, "is required and has no value", nil)
    }

    private func check(_ property: NSPropertyDescription) throws {
        try validateAgainstModel(knownValue(self.property(named: property.name), property.name), forKey: property.name)
    }

    /// A subclass has rules of its own: it is asked for every property, and may change the value.
    private func collectCustomErrors(_ errors: inout [any Error]) {
        let toManys = scope.shape.toManys.enumerated().filter { existingContents($0.offset)?.hasChanges == true }.map(\.element.name)
        let slots = scope.shape.layout.slots.filter { $0.kind != .position }.map(\.name)
        for key in slots + scope.shape.transientAttributes.map(\.name) + toManys {
            collect(&errors) {
                let before = knownValue(property(named: key), key)
                var value = before
                try validateValue(&value, forKey: key)
                if !Self.same(before, value) { setValue(value, forKey: key) }
            }
        }
        // The rules of the model were checked above; the base class' part of the override has found the same errors again.
        errors = Self.distinct(errors)
    }

    /// Whether a value is the same in a file, where texts differ that Swift calls equal.
    private static func same(_ left: Any?, _ right: Any?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left as String, let right as String): left.utf8.elementsEqual(right.utf8)
        case (let left as AnyHashable, let right as AnyHashable): left == right
        default: false
        }
    }

    /// Only the model's errors are found twice, and they name a key: two errors of the program's own may differ in what they carry.
    private static func distinct(_ errors: [any Error]) -> [any Error] {
        var seen: Set<String> = []
        return errors.filter {
            let error = $0 as NSError
            guard error.domain == NSCocoaErrorDomain, let key = error.userInfo[NSValidationKeyErrorKey] else { return true }
            return seen.insert("\(error.code) \(key)").inserted
        }
    }

    private func validateToManys(_ errors: inout [any Error]) {
        for (index, relationship) in scope.shape.toManys.enumerated()
        where relationship.minCount > 0 || relationship.maxCount > 0 {
            guard state.contains(.inserted) || existingContents(index)?.hasChanges == true else { continue }
            collect(&errors) { try validateCount(members(of: index).count, relationship) }
        }
    }

    private func validateCount(_ count: Int, _ relationship: NSRelationshipDescription) throws {
        if count == 0, relationship.isOptional { return }
        if count < relationship.minCount {
            throw invalid(
                .validationRelationshipLacksMinimumCount,
                relationship.name,
                "has \(count) objects, at least \(relationship.minCount) are required",
                count
            )
        }
        if relationship.maxCount > 0, count > relationship.maxCount {
            throw invalid(
                .validationRelationshipExceedsMaximumCount,
                relationship.name,
                "has \(count) objects, at most \(relationship.maxCount) are allowed",
                count
            )
        }
    }

    /// What the model says of one value.
    final func validateAgainstModel(_ value: Any?, forKey key: String) throws {
        guard let property = scope.entity.propertiesByName[key] else { return }
        if case let relationship as NSRelationshipDescription = property, relationship.isToMany {
            return try validateCount(Self.count(of: value), relationship)
        }
        guard let value, !(value is NSNull) else {
            if !property.isOptional { throw missing(key) }
            return
        }
        try validateKind(of: value, property)
        if let number = value as? Double, number.isNaN { throw notANumber(key, value, false) }
        if let interval = (value as? Date)?.timeIntervalSinceReferenceDate, interval.isNaN { throw notANumber(key, interval, true) }
        for (index, predicate) in property.validationPredicates.enumerated() where !predicate.evaluate(with: value) {
            // A warning is a text, or an error code as text.
            let warning = "\(property.validationWarnings[index])"
            let code = Int(warning).map(CocoaError.Code.init(rawValue:))
            throw invalid(code ?? .managedObjectValidation, key, code == nil ? warning : "does not satisfy \(predicate)", value, predicate)
        }
    }

    /// Whether a setter would take the value: of a type that the property has, and no wider than it.
    private func validateKind(of value: Any, _ property: NSPropertyDescription) throws {
        switch property {
        case let attribute as NSAttributeDescription where attribute.attributeType.isStorable:
            guard attribute.attributeType != .transformableAttributeType else { return }
            switch SlotValue(value, for: attribute) {
            case .null:
                let kind = attribute.attributeValueClassName ?? "another type"
                throw invalid(.managedObjectValidation, property.name, "takes \(kind.withArticle), not \(typeName(value))", value)
            case .integer(let number): try validateWidth(of: number, attribute)
            default: break
            }
        case let relationship as NSRelationshipDescription:
            guard let destination = relationship.destinationEntity else { return }
            if let object = value as? NSManagedObject, object.entity.isKindOf(entity: destination) { return }
            let kind = (destination.name ?? "?").withArticle
            throw invalid(.managedObjectValidation, property.name, "takes \(kind), not \(typeName(value))", value)
        default: break
        }
    }

    private func validateWidth(of number: Int64, _ attribute: NSAttributeDescription) throws {
        guard let range = Self.range(of: attribute.attributeType), !range.contains(number) else { return }
        throw misfit(attribute.name, number, range)
    }

    private static func range(of type: NSAttributeType) -> ClosedRange<Int64>? {
        switch type {
        case .integer16AttributeType: range(of: .int16)
        case .integer32AttributeType: range(of: .int32)
        default: nil
        }
    }

    private static func count(of value: Any?) -> Int {
        if let set = value.flatMap(foundationSet) { return set.count }
        return switch value {
        case let set as Set<NSManagedObject>: set.count
        case let set as NSOrderedSet: set.count
        default: 0
        }
    }

    /// Deny: an object at the other end that is not deleted too stands in the way.
    final func validateDeletion() throws {
        if withScope({ !$0.deniesDeletes }) { return }
        var errors: [any Error] = []
        for (index, relationship) in scope.shape.toManys.enumerated() where relationship.deleteRule == .denyDeleteRule {
            if members(of: index).contains(where: { !$0.isDeleted }) { errors.append(denied(relationship)) }
        }
        for case let (slot, relationship?) in scope.shape.toOnes.enumerated() where relationship.deleteRule == .denyDeleteRule {
            if let target = target(slot), !target.isDeleted, target.mayBeThere { errors.append(denied(relationship)) }
        }
        try ValidationErrors.throwIfAny(errors)
    }

    /// NB: a relationship without inverse may lead to an object that others have deleted.
    private var mayBeThere: Bool { !isFault || registeredContext?.isThere(self, ifUnreadable: true) != false }

    private func denied(_ relationship: NSRelationshipDescription) -> CocoaError {
        invalid(.validationRelationshipDeniedDelete, relationship.name, "still has objects, and its delete rule is Deny", nil)
    }

    final func invalid(_ code: CocoaError.Code, _ key: String, _ what: String, _ value: Any?, _ predicate: NSPredicate? = nil)
        -> CocoaError
    {
        var info: [String: Any] = [NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: key]
        info[NSValidationValueErrorKey] = value
        info[NSValidationPredicateErrorKey] = predicate
        return .coreData(code, "\(scope.entity.name ?? "?").\(key) \(what)\(what.hasSuffix(".") ? "" : ".")", userInfo: info)
    }
}
