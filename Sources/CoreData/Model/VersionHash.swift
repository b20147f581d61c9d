/// The bytes behind version hashes: SHA-256 over what a store's form depends on.
///
/// A store written by Apple's Core Data carries the same values, so each input below is exact: names as UTF-8 without length or
/// terminator, numbers as four little-endian bytes, no separators.
enum VersionHash {
    static func base(of property: NSPropertyDescription) -> [UInt8] {
        let flags: UInt8 = (property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0)
        return SHA2.sha256(property.name.utf8 + [flags, 0] + (property.versionHashModifier ?? "").utf8)
    }

    static func attribute(_ attribute: NSAttributeDescription) -> [UInt8] {
        var input = base(of: attribute) + number(Int(attribute.attributeType.rawValue))
        if attribute.allowsExternalBinaryDataStorage { input.append(1) }
        if attribute.preservesValueInHistoryOnDeletion { input.append(1) }
        return SHA2.sha256(input)
    }

    /// Covers the expression and nothing else, not even the name.
    static func derivedAttribute(_ derivation: String) -> [UInt8] { SHA2.sha256(Array(functionForm(derivation).utf8)) }

    /// A key path that ends in a collection operator as the function that it stands for: `pages.@count` is `count:(pages)`.
    private static func functionForm(_ derivation: String) -> String {
        guard let place = derivation.range(of: ".@", options: .backwards), !derivation[place.upperBound...].contains(".") else {
            return derivation
        }
        return "\(derivation[place.upperBound...]):(\(derivation[..<place.lowerBound]))"
    }

    static func relationship(_ relationship: NSRelationshipDescription) -> [UInt8] {
        let inverse = relationship.inverseRelationship
        // NB: a relationship that is its own inverse counts as one without.
        let inverseName = inverse === relationship ? "" : inverse?.name ?? ""
        var input = base(of: relationship) + (relationship.destinationEntity?.name ?? "").utf8 + inverseName.utf8
        input += number(relationship.maxCount) + number(relationship.minCount)
        if relationship.isOrdered { input += [1, 0] }
        return SHA2.sha256(input)
    }

    static func entity(_ entity: NSEntityDescription, superentityHash: [UInt8]?) -> [UInt8] {
        var input = (entity.name ?? "").utf8 + [entity.isAbstract ? 1 : 0] + (superentityHash ?? [])
        for property in entity.properties.sorted(by: binaryNameOrder) where isCovered(property) { input += property.hashBytes }
        input += (entity.versionHashModifier ?? "").utf8
        let constraints = entity.constraintNames.map { $0.joined(separator: ".") }
        return SHA2.sha256(input + constraints.sorted(by: binaryOrder).joined().utf8)
    }

    private static func isCovered(_ property: NSPropertyDescription) -> Bool {
        !property.isTransient && !(property is NSFetchedPropertyDescription)
    }

    private static func number(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian, Array.init)
    }
}

extension VersionHash {
    /// `versionChecksum` of a model with these entity hashes.
    static func checksum(of hashes: [String: Data]) -> String {
        let input = hashes.sorted { binaryOrder($0.key, $1.key) }.flatMap { Array($0.value) }
        return Data(SHA2.sha256(input)).base64EncodedString()
    }

    /// The `NSStoreModelVersionHashesDigest` of store metadata with these entity hashes.
    static func digest(of hashes: [String: Data]) -> String {
        let input = hashes.sorted { binaryOrder($0.key, $1.key) }.flatMap { Array($0.key.utf8) + Array($0.value) }
        return Data(SHA2.sha512(input)).base64EncodedString()
    }
}

/// By the bytes of the UTF-8 form: the order of hashes, columns and history bits. Swift's own `<` compares normalised text.
func binaryOrder(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }

func binaryNameOrder(_ left: NSPropertyDescription, _ right: NSPropertyDescription) -> Bool { binaryOrder(left.name, right.name) }
