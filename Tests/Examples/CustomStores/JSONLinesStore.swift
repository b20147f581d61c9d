import CoreData
import Foundation

/// A read-only store over a file with a JSON object in each line, such as a log or an export: as many lines as the disk holds.
///
/// The objects are of the first entity of the model's configuration; its attributes are the keys of the lines. A line is found by its number and
/// parsed when somebody needs it; what is kept in memory is where each line begins. Lines without anything in them are passed over. What is appended
/// to the file while the store is open is not seen.
public final class JSONLinesStore: NSIncrementalStore {
    public static let storeType = "JSONLines"

    public override var type: String { Self.storeType }

    /// Nil before the metadata are loaded.
    private var opened: Lines?

    public override func loadMetadata() throws {
        guard let url else { throw CocoaError(.fileNoSuchFile) }
        opened = try Lines(contentsOf: url)
        isReadOnly = true
        // The same file is the same store, whoever opens it.
        metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: url.resolvingSymlinksInPath().absoluteString.asUUID]
    }

    private var lines: Lines {
        get throws {
            guard let opened else { throw CocoaError(.fileReadUnknown) }
            return opened
        }
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
        let lines = try lines
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
        for number in 0..<(try lines.count) {
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
        guard let number = (referenceObject(for: objectID) as? NSNumber)?.intValue, try lines.holds(number) else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: try values(of: number, objectID.entity), version: 1)
    }

    /// The values of a line that the entity has attributes for.
    private func values(of number: Int, _ entity: NSEntityDescription) throws -> [String: Any] {
        let lines = try lines
        guard let line = (try? JSONSerialization.jsonObject(with: lines.data(of: number))) as? [String: Any] else {
            let place = try lines.place(of: number)
            throw CocoaError(
                .fileReadCorruptFile,
                userInfo: [NSLocalizedDescriptionKey: "\(url?.path ?? "?"), line \(place): this is no JSON object."]
            )
        }
        return line.filter { entity.attributesByName[$0.key] != nil }
    }

    /// How many lines were parsed so far.
    public var parsedCount: Int { opened?.parsedCount ?? 0 }
}

/// The lines of a file with something in them, which are read as they are used.
// Sendable: the lock orders access to the file and the count; the places of the lines do not change.
private final class Lines: @unchecked Sendable {
    // Read piece by piece: what is mapped into memory ends the program when somebody cuts the file off.
    private let file: FileHandle
    private let starts: [Int]
    /// Where the last line ends.
    private let end: Int
    private let lock = NSLock()
    private var parsed = 0

    init(contentsOf url: URL) throws {
        file = try FileHandle(forReadingFrom: url)
        var scan = LineScan()
        while let part = try file.read(upToCount: 1 << 20), !part.isEmpty { part.withUnsafeBytes { scan.take($0) } }
        (starts, end) = (scan.starts, scan.place)
    }

    var count: Int { starts.count }
    var parsedCount: Int { lock.withLock { parsed } }

    func holds(_ number: Int) -> Bool { starts.indices.contains(number) }

    /// A line, and whatever has nothing in it up to the next one: JSON takes that for blanks.
    ///
    /// - Throws: an error of reading the file.
    func data(of number: Int) throws -> Data {
        let end = number + 1 < starts.count ? starts[number + 1] : end
        return try lock.withLock {
            parsed += 1
            return try read(starts[number]..<end)
        }
    }

    private func read(_ range: Range<Int>) throws -> Data {
        try file.seek(toOffset: UInt64(range.lowerBound))
        return try file.read(upToCount: range.count) ?? Data()
    }

    /// The number that an editor shows beside a line.
    func place(of number: Int) throws -> Int {
        try lock.withLock {
            var place = 1
            for start in stride(from: 0, to: starts[number], by: 1 << 20) {
                place += try read(start..<min(start + 1 << 20, starts[number])).count { $0 == 10 }
            }
            return place
        }
    }
}

/// Looks for the lines of a file, a part of it at a time.
private struct LineScan {
    private(set) var starts: [Int] = []
    /// How much has been looked at.
    private(set) var place = 0
    /// Where the line began that is still blank; nil in one that is not.
    private var blank: Int? = 0

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        var index = place == 0 && bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        if index > 0 { blank = index }
        while index < bytes.count {
            guard let start = blank else {
                let rest = memchr(base + index, 10, bytes.count - index)
                index = rest.map { base.distance(to: UnsafeRawPointer($0)) + 1 } ?? bytes.count
                if rest != nil { blank = place + index }
                continue
            }
            switch bytes[index] {
            case 10: blank = place + index + 1
            case 9, 13, 32: break
            default:
                starts.append(start)
                blank = nil
            }
            index += 1
        }
        place += bytes.count
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
