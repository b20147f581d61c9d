import Foundation

/// Values in keyed archives.
extension Model.Value {
    /// The value that a node stands for; nil for nil.
    init?(_ node: PropertyListNode?, in archive: ArchiveReader) throws {
        switch try archive.value(node) {
        case nil, .null?: return nil
        case .bool(let flag)?: self = .bool(flag)
        case .integer(let number)?: self = .integer(number)
        case .real(let number)?: self = .real(number)
        case .date(let seconds)?: self = .date(seconds)
        case .string(let text)?: self = .string(text)
        case .data(let bytes)?: self = .data(Data(bytes))
        case .reference?, .array?: throw ModelFormatError(nil, "a collection stands where a value should")
        case .dictionary?:
            guard let object = try archive.object(node) else { return nil }
            self = try object.modelValue()
        }
    }
}

extension ArchivedObject {
    fileprivate func modelValue() throws -> Model.Value {
        switch className {
        case "NSString", "NSMutableString": .string(try text("NS.string") ?? "")
        case "NSDate": .date(try real("NS.time"))
        case "NSData", "NSMutableData": .data(try data("NS.data") ?? Data())
        case "NSUUID": .uuid(try uuid())
        case "NSURL": .uri(try uri())
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": .decimal(try decimal())
        default: .archived(className: className, try excerpt())
        }
    }

    private func excerpt() throws -> Data {
        guard let data = archive.excerpt(at: index) else { throw error("it refers to more than \(ArchiveReader.largestExcerpt) objects") }
        return data
    }

    private func real(_ key: String) throws -> Double {
        switch keys[key] {
        case .real(let number)?: return number
        case .integer(let number)?: return Double(number)
        default: throw error("\(key) is no number")
        }
    }

    private func uuid() throws -> UUID {
        guard let bytes = try data("NS.uuidbytes"), bytes.count == 16 else { throw error("NS.uuidbytes has not 16 bytes") }
        // Unsafe only in name: there are 16 bytes, which is what the type has.
        return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }

    private func uri() throws -> String {
        let base = try object("NS.base").flatMap { try $0.text("NS.relative") }
        guard let base, let url = URL(string: try text("NS.relative") ?? "", relativeTo: URL(string: base)) else {
            return try text("NS.relative") ?? ""
        }
        return url.absoluteString
    }

    /// A mantissa of up to eight 16-bit digits, the least significant first.
    private func decimal() throws -> Decimal {
        guard let mantissa = try data("NS.mantissa"), mantissa.count <= 16, mantissa.count % 2 == 0,
            let exponent = try integer("NS.exponent"), (-128...127).contains(exponent)
        else { throw error("the decimal number cannot be read") }
        // NB: the byte order is that of the machine: 1 for little-endian.
        let isLittle = try integer("NS.mantissa.bo") != 2
        let digits: [UInt16] = stride(from: mantissa.startIndex, to: mantissa.endIndex, by: 2).map { place in
            let (first, second) = (UInt16(mantissa[place]), UInt16(mantissa[place + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        let length = min(max(try integer("NS.length") ?? digits.count, 0), digits.count)
        let significand = digits[..<length].reversed().reduce(Decimal(0)) { $0 * 65_536 + Decimal(Int($1)) }
        return Decimal(sign: try flag("NS.negative") ? .minus : .plus, exponent: exponent, significand: significand)
    }
}

/// Objects of unknown classes.
extension ArchiveReader {
    static let largestExcerpt = 1_000

    /// An archive of its own with the object as root and with everything that it refers to, numbered in the order of first mention.
    /// Nil if that is too much for a value.
    func excerpt(at root: Int) -> Data? {
        var numbers = [0: 0, root: 1]
        var order = [0, root]
        var copies: [PropertyListNode] = [.string("$null")]
        while copies.count < order.count {
            if order.count > Self.largestExcerpt { return nil }
            copies.append(Self.renumbered(objects[order[copies.count]]) { number(of: $0, &numbers, &order) })
        }
        return Data(Self.archive(of: copies))
    }

    private func number(of index: Int, _ numbers: inout [Int: Int], _ order: inout [Int]) -> Int {
        if let known = numbers[index] { return known }
        guard objects.indices.contains(index) else { return 0 }
        order.append(index)
        numbers[index] = order.count - 1
        return order.count - 1
    }

    /// A node with other numbers for the objects that it refers to. Keys are visited in order, so that equal objects have equal copies.
    static func renumbered(_ node: PropertyListNode, _ number: (Int) -> Int) -> PropertyListNode {
        switch node {
        case .reference(let index): return .reference(number(index))
        case .array(let elements): return .array(elements.map { renumbered($0, number) })
        case .dictionary(let entries):
            let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            return .dictionary(Dictionary(sorted.map { ($0.key, renumbered($0.value, number)) }) { first, _ in first })
        default: return node
        }
    }

    private static func archive(of objects: [PropertyListNode]) -> [UInt8] {
        BinaryPropertyList.bytes(
            of: .dictionary([
                "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
                "$top": .dictionary(["root": .reference(1)]), "$objects": .array(objects),
            ])
        )
    }
}

extension KeyedArchive {
    /// Adds a value; nil for nil.
    mutating func value(_ value: Model.Value?) throws -> PropertyListNode {
        switch value {
        case nil: return Self.null
        case .string(let text)?: return string(text)
        case .integer(let number)?: return plain(.integer(number))
        case .real(let number)?: return plain(.real(number))
        case .bool(let flag)?: return plain(.bool(flag))
        case .date(let seconds)?: return object(["NSDate", "NSObject"], ["NS.time": .real(seconds)])
        case .data(let data)?: return plain(.data(Array(data)))
        // Unsafe only in name: the bytes are copied at once.
        case .uuid(let uuid)?: return object(["NSUUID", "NSObject"], ["NS.uuidbytes": .data(withUnsafeBytes(of: uuid.uuid, Array.init))])
        case .uri(let text)?: return object(["NSURL", "NSObject"], ["NS.base": Self.null, "NS.relative": string(text)])
        case .decimal(let number)?: return decimal(number)
        case .array(let elements)?: return array(try elements.map { try self.value($0) })
        case .archived(_, let data)?: return try copy(ArchiveReader(data))
        }
    }

    private mutating func decimal(_ number: Decimal) -> PropertyListNode {
        let digits = number.mantissaDigits
        let bytes = digits.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        return object(
            ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
            [
                "NS.mantissa": .data(bytes), "NS.mantissa.bo": .integer(1), "NS.exponent": .integer(Int64(number.exponent)),
                "NS.negative": .bool(number.sign == .minus), "NS.compact": .bool(true),
                "NS.length": .integer(Int64((digits.lastIndex { $0 != 0 } ?? -1) + 1)),
            ]
        )
    }

    /// Adds all objects of another archive; answers its root.
    private mutating func copy(_ archive: ArchiveReader) throws -> PropertyListNode {
        let root = try archive.root().index
        let places = archive.objects.indices.map { $0 == 0 ? 0 : reserved() }
        for (index, node) in archive.objects.enumerated().dropFirst() {
            let copy = ArchiveReader.renumbered(node) { places.indices.contains($0) ? places[$0] : 0 }
            define(places[index], copy.namedAsRegistered())
        }
        return .reference(places[root])
    }
}

extension Decimal {
    /// The significand in eight 16-bit digits, the least significant first.
    fileprivate var mantissaDigits: [UInt16] {
        "\(significand.magnitude)".compactMap(\.wholeNumberValue).reduce(into: Array(repeating: 0, count: 8)) { digits, next in
            var carry = UInt32(next)
            for place in digits.indices {
                carry += UInt32(digits[place]) * 10
                digits[place] = UInt16(truncatingIfNeeded: carry)
                carry >>= 16
            }
        }
    }
}
