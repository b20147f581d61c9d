import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import ModelFormat

/// Documents that nobody has written whole.
@Suite("A damaged document")
struct HostileDocumentTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ type: String, _ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func document(_ type: String) throws -> Data {
        let url = folder.file("whole.\(type)")
        let context = try open(type, url)
        for index in 0..<3 {
            let (book, tag) = (Book(context: context), Tag(context: context))
            (book.title, book.pages, book.price) = ("ä\(index)\u{1}", Int32(index), 0.5)
            tag.label = String(repeating: "x", count: 20)
            book.setValue([tag], forKey: "tags")
        }
        try context.save()
        return try Data(contentsOf: url)
    }

    /// Everything that can be read, written once more.
    private func use(_ type: String, _ url: URL) throws {
        let context = try open(type, url)
        for name in ["Author", "Book", "Tag", "Chapter", "Person", "Desk"] {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) {
                for key in object.entity.attributesByName.keys { _ = object.value(forKey: key) }
                for key in object.entity.relationshipsByName.keys { _ = object.objectIDs(forRelationshipNamed: key) }
            }
        }
        Tag(context: context).label = "new"
        try context.save()
    }

    /// Bytes changed, cut off, taken out and put in twice.
    private func mutated(_ data: Data, _ random: inout some RandomNumberGenerator) -> Data {
        var bytes = Array(data)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard bytes.count > 2 else { break }
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = .random(in: 0...255, using: &random)
            case 1: bytes[place] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 4: bytes.removeSubrange(place...)
            default: for index in place..<end { bytes[index] = 0xff }
            }
        }
        return Data(bytes)
    }

    // * Some hundred bytes for more members than any memory holds.
    // * One collection that is in three places, as other programs write what is equal.
    @Test("is refused where it says the same again and again, and read where it says it again")
    func repeated() throws {
        try PropertyListBomb.data.write(to: folder.file("bomb"))
        cocoaError(259) { try open(NSBinaryStoreType, folder.file("bomb")) }
        #expect(BinaryPropertyListReader.isInProportion(PropertyListBomb.list([[0xa3, 1, 1, 1], [0xa2, 2, 2], [0x09]])))
    }

    @Test("is refused with an error or read, whatever was done to its bytes", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func bytes(_ type: String) throws {
        let whole = try document(type)
        var random = SeededGenerator(7)
        var refused = 0
        for number in 0..<mutationCount {
            let url = folder.file("\(number)")
            try mutated(whole, &random).write(to: url)
            do { try use(type, url) } catch {
                #expect(error is CocoaError, "\(number): \(error)")
                refused += 1
            }
            try FileManager.default.removeItem(at: url)
        }
        #expect(refused > mutationCount / 4)
    }

    private var mutationCount: Int { ProcessInfo.processInfo.environment["DOCUMENT_MUTATIONS"].flatMap(Int.init) ?? 150 }

    /// Values where others are expected.
    private static func odd(_ random: inout some RandomNumberGenerator) -> Any {
        let values: [Any] = [
            Int64.max, Int64.min, UInt64.max, -1, 0, 1, 1.5, Double.greatestFiniteMagnitude, Double.nan, "", "nan", "inf", "1e999", "\u{0}",
            "Book",
            String(repeating: "é", count: 100_000), Date(timeIntervalSinceReferenceDate: 1e300), Data(), Data([0xff, 0xfe]), true,
            [Int64](), [1, 1, 1],
            ["x": 1], [[String: Any]](), [["id": 1]],
        ]
        return values.randomElement(using: &random) ?? 0
    }

    private static func altered(_ value: Any, _ random: inout some RandomNumberGenerator) -> Any {
        if Int.random(in: 0..<12, using: &random) == 0 { return odd(&random) }
        switch value {
        case var values as [String: Any]:
            for key in values.keys.sorted() where Int.random(in: 0..<3, using: &random) == 0 {
                values[key] = values[key].map { altered($0, &random) }
            }
            if Int.random(in: 0..<8, using: &random) == 0 {
                values[["id", "values", "Nobody", ""].randomElement(using: &random) ?? ""] = odd(&random)
            }
            return values
        case let list as [Any]:
            var list = list.map { Int.random(in: 0..<3, using: &random) == 0 ? altered($0, &random) : $0 }
            if let first = list.first, Int.random(in: 0..<8, using: &random) == 0 { list.append(first) }
            return list
        default: return Int.random(in: 0..<3, using: &random) == 0 ? odd(&random) : value
        }
    }

    @Test("is refused with an error or read, whatever its values are", arguments: [NSBinaryStoreType, NSXMLStoreType])
    func values(_ type: String) throws {
        let whole = try PropertyListSerialization.propertyList(from: document(type), format: nil)
        let format = type == NSXMLStoreType ? PropertyListSerialization.PropertyListFormat.xml : .binary
        var random = SeededGenerator(11)
        var (refused, tried) = (0, 0)
        for number in 0..<mutationCount {
            let url = folder.file("\(number)")
            let list = Self.altered(whole, &random)
            // What Foundation itself cannot write nobody has to read.
            guard PropertyListSerialization.propertyList(list, isValidFor: format),
                let data = try? PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
            else { continue }
            tried += 1
            try data.write(to: url)
            do { try use(type, url) } catch {
                #expect(error is CocoaError, "\(number): \(error)")
                refused += 1
            }
            try? FileManager.default.removeItem(at: url)
        }
        #expect(tried > mutationCount / 4 && refused > 0)
    }
}

/// Twelve collections, each with the next one fourteen times.
enum PropertyListBomb {
    static let data = list((UInt8(1)..<12).map { [0xae] + [UInt8](repeating: $0, count: 14) } + [[0x09]])

    /// A binary property list of these objects, each less than 256 bytes from the beginning.
    static func list(_ objects: [[UInt8]]) -> Data {
        let offsets = objects.indices.map { UInt8(8 + objects[..<$0].map(\.count).reduce(0, +)) }
        let number = { (value: Int) in [UInt8](repeating: 0, count: 7) + [UInt8(value)] }
        let contents = Array("bplist00".utf8) + objects.flatMap { $0 }
        return Data(contents + offsets + [0, 0, 0, 0, 0, 0, 1, 1] + number(objects.count) + number(0) + number(contents.count))
    }
}
