import Foundation

/// The bytes behind version hashes: SHA-256 over what a store's form depends on.
///
/// A store written by Apple's Core Data carries the same values, so each input below is exact: names as UTF-8 without length or
/// terminator, numbers as four little-endian bytes, no separators.
package enum VersionHash {
    package static func base(name: String, isOptional: Bool, isTransient: Bool, modifier: String?) -> [UInt8] {
        let flags: UInt8 = (isOptional ? 1 : 0) | (isTransient ? 2 : 0)
        return SHA2.sha256(name.utf8 + [flags, 0] + (modifier ?? "").utf8)
    }

    package static func attribute(_ base: [UInt8], type: Int, isExternal: Bool, isPreserved: Bool) -> [UInt8] {
        var input = base + number(type)
        if isExternal { input.append(1) }
        if isPreserved { input.append(1) }
        return SHA2.sha256(input)
    }

    /// Covers the expression and nothing else, not even the name.
    package static func derivedAttribute(_ derivation: String) -> [UInt8] { SHA2.sha256(Array(functionForm(derivation).utf8)) }

    /// A key path that ends in a collection operator as the function that it stands for: `pages.@count` is `count:(pages)`.
    private static func functionForm(_ derivation: String) -> String {
        guard let place = derivation.range(of: ".@", options: .backwards), !derivation[place.upperBound...].contains(".") else {
            return derivation
        }
        return "\(derivation[place.upperBound...]):(\(derivation[..<place.lowerBound]))"
    }

    /// - Parameter inverse: its name; empty for none.
    ///
    /// NB: a relationship that is its own inverse counts as one without.
    package static func relationship(
        _ base: [UInt8],
        destination: String,
        inverse: String,
        counts: (least: Int, most: Int),
        isOrdered: Bool
    ) -> [UInt8] {
        var input = base + destination.utf8 + inverse.utf8 + number(counts.most) + number(counts.least)
        if isOrdered { input += [1, 0] }
        return SHA2.sha256(input)
    }

    /// - Parameter properties: the hashes of those that are stored, inherited ones too, in the order of the names' bytes.
    package static func entity(
        _ name: String,
        isAbstract: Bool,
        parent: [UInt8]?,
        properties: [[UInt8]],
        modifier: String?,
        constraints: [[String]]
    ) -> [UInt8] {
        let texts = constraints.map { $0.joined(separator: ".") }.sorted(by: precedes)
        let head = name.utf8 + [isAbstract ? 1 : 0] + (parent ?? [])
        return SHA2.sha256(head + properties.joined() + (modifier ?? "").utf8 + texts.joined().utf8)
    }

    /// By the bytes of the UTF-8 form: the order of hashes, columns and history bits. Swift's own `<` compares normalised text.
    package static func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }

    private static func number(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian, Array.init)
    }
}

extension VersionHash {
    /// `versionChecksum` of a model with these entity hashes.
    package static func checksum(of hashes: [String: Data]) -> String {
        let input = hashes.sorted { precedes($0.key, $1.key) }.flatMap { Array($0.value) }
        return Data(SHA2.sha256(input)).base64EncodedString()
    }

    /// The `NSStoreModelVersionHashesDigest` of store metadata with these entity hashes.
    package static func digest(of hashes: [String: Data]) -> String {
        let input = hashes.sorted { precedes($0.key, $1.key) }.flatMap { Array($0.key.utf8) + Array($0.value) }
        return Data(SHA2.sha512(input)).base64EncodedString()
    }
}
