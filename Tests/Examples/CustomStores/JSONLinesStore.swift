import CoreData
import Foundation

/// A read-only store over a file with a JSON object in each line, such as a log or an export: as many lines as the disk holds.
///
/// The objects are of the first entity of the model's configuration; its attributes are the keys of the lines. A line is found by its number and
/// parsed when somebody needs it; what is kept in memory is where each line begins.
public final class JSONLinesStore: NSIncrementalStore {
    public static let storeType = "JSONLines"

    public override var type: String { Self.storeType }

    private var lines = Lines()

    public override func loadMetadata() throws {
        guard let url else { throw CocoaError(.fileNoSuchFile) }
        lines = try Lines(contentsOf: url)
        isReadOnly = true
        // The same file is the same store, whoever opens it.
        metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: url.resolvingSymlinksInPath().absoluteString.asUUID]
    }

    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let request = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = request.entity else {
            throw CocoaError(.featureUnsupported, userInfo: [NSLocalizedDescriptionKey: "A store of JSON lines is only read."])
        }
        let found = try numbers(request, entity)
        if request.resultType == .countResultType { return found.count }
        return found.map { newObjectID(for: entity, referenceObject: $0) }
    }

    /// The numbers of the lines that a request asks for. Only what a predicate or an order needs is parsed.
    private func numbers(_ request: NSFetchRequest<any NSFetchRequestResult>, _ entity: NSEntityDescription) throws -> [Int] {
        let (offset, limit) = (min(request.fetchOffset, lines.count), min(request.fetchLimit, lines.count))
        let wanted = request.fetchLimit > 0 ? offset + limit : lines.count
        var found: [Int] = []
        if let order = request.sortDescriptors, !order.isEmpty {
            found = try sorted(order, request.predicate, entity, upTo: wanted)
        } else if let predicate = request.predicate {
            for number in 0..<lines.count where found.count < wanted {
                if predicate.evaluate(with: NSDictionary(dictionary: try values(of: number, entity))) { found.append(number) }
            }
        } else {
            found = Array(0..<min(lines.count, wanted))
        }
        return Array(found.dropFirst(request.fetchOffset))
    }

    /// Of each line only what it is sorted by is kept, and of no more lines than may be among the first so many.
    private func sorted(
        _ order: [NSSortDescriptor],
        _ predicate: NSPredicate?,
        _ entity: NSEntityDescription,
        upTo count: Int
    ) throws -> [Int] {
        let keys = Set(order.compactMap { $0.key?.split(separator: ".").first.map(String.init) })
        var kept: [(number: Int, values: NSDictionary)] = []
        func sort() {
            kept.sort { order.orders($0.values, before: $1.values, $0.number < $1.number) }
            if kept.count > count { kept.removeSubrange(count...) }
        }
        for number in 0..<lines.count {
            let values = try values(of: number, entity)
            guard predicate?.evaluate(with: NSDictionary(dictionary: values)) ?? true else { continue }
            kept.append((number, NSDictionary(dictionary: values.filter { keys.contains($0.key) })))
            if kept.count >= 2 * count + 1000 { sort() }
        }
        sort()
        return kept.map(\.number)
    }

    public override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws
        -> NSIncrementalStoreNode
    {
        guard let number = (referenceObject(for: objectID) as? NSNumber)?.intValue, lines.holds(number) else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: try values(of: number, objectID.entity), version: 1)
    }

    /// The values of a line that the entity has attributes for.
    private func values(of number: Int, _ entity: NSEntityDescription) throws -> [String: Any] {
        guard let line = try JSONSerialization.jsonObject(with: lines[number]) as? [String: Any] else {
            throw CocoaError(.fileReadCorruptFile, userInfo: [NSLocalizedDescriptionKey: "Line \(number + 1) is no JSON object."])
        }
        return line.filter { entity.attributesByName[$0.key] != nil }
    }

    /// How many lines were parsed so far.
    public var parsedCount: Int { lines.parsedCount }
}

/// The lines of a file that the system reads as they are used.
private final class Lines {
    private let data: Data
    private var starts: [Int] = []
    private(set) var parsedCount = 0

    init() { data = Data() }

    init(contentsOf url: URL) throws {
        data = try Data(contentsOf: url, options: .alwaysMapped)
        data.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            while start < bytes.count {
                let rest = memchr(base + start, 10, bytes.count - start)
                let end = rest.map { base.distance(to: UnsafeRawPointer($0)) } ?? bytes.count
                if end > start { starts.append(start) }
                start = end + 1
            }
        }
    }

    var count: Int { starts.count }

    func holds(_ number: Int) -> Bool { starts.indices.contains(number) }

    subscript(number: Int) -> Data {
        parsedCount += 1
        let rest = data[(data.startIndex + starts[number])...]
        return Data(rest.prefix { $0 != 10 })
    }
}

extension [NSSortDescriptor] {
    fileprivate func orders(_ left: NSDictionary, before right: NSDictionary, _ isFirst: Bool) -> Bool {
        for descriptor in self {
            let order = descriptor.compare(left, to: right)
            if order != .orderedSame { return order == .orderedAscending }
        }
        return isFirst
    }
}

extension String {
    /// A UUID that is always the same for the same text.
    fileprivate var asUUID: String {
        var (first, second): (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x8422_2325_cbf2_9ce4)
        for byte in utf8 {
            first = (first ^ UInt64(byte)) &* 0x100_0000_01b3
            second = (second &+ UInt64(byte)) &* 0x9e37_79b9_7f4a_7c15 ^ first
        }
        return withUnsafeBytes(of: (first, second)) { UUID(uuid: $0.load(as: uuid_t.self)).uuidString }
    }
}
