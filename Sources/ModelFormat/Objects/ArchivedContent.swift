import Foundation

/// What a keyed archive, or a property list, holds: for people to look at. No class of the archive is needed, and no object is made.
package indirect enum ArchivedContent: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since the first moment of 2001 in UTC.
    case date(Double)
    case text(String)
    case data(Data)
    case list([ArchivedContent])
    case entries([String: ArchivedContent])
    /// An object of a class that is not one of Foundation's values, with what it has encoded; nothing, where it contains itself.
    case object(className: String, [String: ArchivedContent])

    /// Nil for data that are neither.
    package init?(_ data: Data) {
        guard data.starts(with: BinaryPropertyListReader.magic) || data.starts(with: Data("<?xml".utf8)) else { return nil }
        if let archive = try? ArchiveReader(data) {
            var reader = ContentReader(archive)
            guard let root = try? reader.content(archive.rootNode(), depth: 0) else { return nil }
            self = root
        } else {
            guard let list = try? PropertyListNode(data) else { return nil }
            self.init(plain: list)
        }
    }

    /// - Parameter node: one of a property list, which has no references.
    fileprivate init(plain node: PropertyListNode) {
        switch node {
        case .null, .reference: self = .null
        case .bool(let flag): self = .bool(flag)
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .date(let seconds): self = .date(seconds)
        case .string(let text): self = .text(text)
        case .data(let bytes): self = .data(Data(bytes))
        case .array(let elements): self = .list(elements.map(ArchivedContent.init(plain:)))
        case .dictionary(let entries): self = .entries(entries.mapValues(ArchivedContent.init(plain:)))
        }
    }
}

/// Reads an archive from its root on.
private struct ContentReader {
    private let archive: ArchiveReader
    /// The objects that the present one is in.
    private var path: Set<Int> = []
    private var count = 0

    private static let deepest = 64
    /// NB: objects that are shared are read again, so that a small archive can hold very much.
    private static let most = 100_000

    init(_ archive: ArchiveReader) { self.archive = archive }

    mutating func content(_ node: PropertyListNode, depth: Int) throws -> ArchivedContent {
        count += 1
        guard depth < Self.deepest, count < Self.most else { throw ModelFormatError(nil, "the archive holds too much") }
        guard let value = try archive.value(node) else { return .null }
        switch value {
        case .array(let elements): return .list(try elements.map { try content($0, depth: depth + 1) })
        case .dictionary(let keys):
            guard let object = try? archive.object(node) else { return .entries(try contents(keys, depth)) }
            return try content(of: object, depth)
        default: return ArchivedContent(plain: value)
        }
    }

    private mutating func contents(_ keys: [String: PropertyListNode], _ depth: Int) throws -> [String: ArchivedContent] {
        try keys.filter { $0.key != "$class" }.mapValues { try content($0, depth: depth + 1) }
    }

    private mutating func content(of object: ArchivedObject, _ depth: Int) throws -> ArchivedContent {
        guard path.insert(object.index).inserted else { return .object(className: object.className, [:]) }
        defer { path.remove(object.index) }
        switch object.className {
        case "NSNull": return .null
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet": return try list(object.list("NS.objects"), depth)
        case "NSOrderedSet", "NSMutableOrderedSet":
            return try list((0..<object.keys.count).compactMap { object.keys["NS.object.\($0)"] }, depth)
        case "NSDictionary", "NSMutableDictionary": return try dictionary(object, depth)
        default: return try scalar(object) ?? .object(className: object.className, contents(object.keys, depth))
        }
    }

    private mutating func list(_ nodes: [PropertyListNode], _ depth: Int) throws -> ArchivedContent {
        .list(try nodes.map { try content($0, depth: depth + 1) })
    }

    /// By the texts of its keys.
    private mutating func dictionary(_ object: ArchivedObject, _ depth: Int) throws -> ArchivedContent {
        let (keys, values) = (try object.list("NS.keys"), try object.list("NS.objects"))
        let pairs = try zip(keys, values).map { (Self.key(try content($0, depth: depth + 1)), try content($1, depth: depth + 1)) }
        return .entries(Dictionary(pairs) { first, _ in first })
    }

    private static func key(_ content: ArchivedContent) -> String {
        switch content {
        case .text(let text): text
        case .integer(let number): "\(number)"
        default: "\(content)"
        }
    }

    /// A value of Foundation's own classes; nil for other objects.
    private func scalar(_ object: ArchivedObject) throws -> ArchivedContent? {
        switch try Model.Value(.reference(object.index), in: archive) {
        case .string(let text)?, .uri(let text)?: .text(text)
        case .date(let seconds)?: .date(seconds)
        case .data(let data)?: .data(data)
        case .uuid(let uuid)?: .text(uuid.uuidString)
        case .decimal(let number)?: .text("\(number)")
        default: nil
        }
    }
}
