import Foundation
import Testing

@testable import ModelFormat

@Suite("A file that is no good")
struct HostileTests {
    private static let source = Data(everything.utf8)

    private static func archive() throws -> Data {
        try Model(xml: source).archived(
            parser: ModelTextParser(predicate: { _ in .constant(true) }, expression: { _ in .keyPath(nil, "ratio") })
        )
    }

    /// Reads what may be anything: a model or an error of this module, and nothing else.
    private func read(_ data: Data, _ what: String, _ read: (Data) throws -> Any) {
        do {
            _ = try read(data)
        } catch is ModelFormatError {
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test("because it is cut short anywhere is an error or a model")
    func truncated() throws {
        let archive = try Self.archive()
        for count in stride(from: 0, to: archive.count, by: 31) { read(archive.prefix(count), "\(count) bytes") { try Model(archive: $0) } }
        for count in stride(from: 0, to: Self.source.count, by: 61) {
            #expect(throws: ModelFormatError.self) { try Model(xml: Self.source.prefix(count)) }
        }
    }

    @Test("because bytes of it are others is an error or a model", arguments: 0..<4)
    func changed(round: UInt64) throws {
        var generator = Generator(state: 0x9e37_79b9 &+ round)
        let (archive, mapping) = (try Self.archive(), try Self.mapping())
        for number in 0..<20 {
            for (data, isModel) in [(archive, true), (mapping, false)] {
                var bytes = Array(data)
                for _ in 0...Int(generator.next() % 4) {
                    let place = Int(generator.next() % UInt64(bytes.count))
                    bytes[place] = UInt8(truncatingIfNeeded: generator.next())
                }
                let what = "round \(round), number \(number)"
                read(Data(bytes), what) { isModel ? try Model(archive: $0) as Any : try MappingModel(archive: $0) }
            }
            var text = Array(Self.source)
            let place = Int(generator.next() % UInt64(text.count))
            // Half of them stay text: what is none is refused at once.
            let isText = number % 2 == 0
            text[place] = UInt8(truncatingIfNeeded: generator.next()) & (isText ? 0x7f : 0xff)
            if number % 8 == 0 { text.insert(contentsOf: "é&\u{1F600}<".utf8, at: place) }
            read(Data(text), "source, round \(round), number \(number)") { try Model(xml: $0) }
        }
    }

    @Test("because objects of its archive are exchanged is an error or a model", arguments: 0..<4)
    func exchanged(round: UInt64) throws {
        var generator = Generator(state: 77 &+ round)
        guard case .dictionary(let list) = try PropertyListNode(Self.archive()), case .array(let objects)? = list["$objects"] else {
            Issue.record("no archive")
            return
        }
        for number in 0..<20 {
            var (list, changed) = (list, objects)
            for _ in 0...Int(generator.next() % 3) {
                let place = Int(generator.next() % UInt64(objects.count))
                changed[place] = ArchiveReader.renumbered(changed[place]) { index in
                    generator.next() % 3 == 0 ? Int(generator.next() % UInt64(objects.count + 2)) : index
                }
                if generator.next() % 4 == 0 { changed[place] = Self.strange(&generator) }
            }
            list["$objects"] = .array(changed)
            let data = Data(BinaryPropertyList.bytes(of: .dictionary(list)))
            read(data, "round \(round), number \(number)") { try Model(archive: $0) }
        }
    }

    private static func strange(_ generator: inout Generator) -> PropertyListNode {
        let nodes: [PropertyListNode] = [
            .null, .bool(true), .integer(.min), .integer(.max), .real(.nan), .date(.infinity), .string(""), .data([]), .array([]),
            .dictionary([:]), .reference(.max), .array([.array([.reference(1)])]),
        ]
        return nodes[Int(generator.next() % UInt64(nodes.count))]
    }

    @Test("because it is noise is an error")
    func noise() {
        var generator = Generator(state: 5)
        for count in 0..<150 {
            let noise = Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
            #expect(throws: ModelFormatError.self) { try Model(archive: noise) }
            #expect(throws: ModelFormatError.self) { try Model(archive: Data(BinaryPropertyListReader.magic) + noise) }
            #expect(throws: ModelFormatError.self) { try Model(xml: noise) }
            #expect(throws: ModelFormatError.self) { try MappingModel(xml: noise) }
        }
    }

    private static func mapping() throws -> Data {
        var archive = KeyedArchive()
        let property = archive.object(
            ["NSPropertyMapping", "NSObject"],
            [
                "NSDestinationPropertyName": archive.string("p"),
                "NSValueExpression": try PredicateWriter(parser: .none).expression(
                    .conditional(.constant(true), .keyPath(.variable("source"), "p"), .constant(.integer(1))),
                    &archive
                ),
            ]
        )
        let entity = archive.object(
            ["NSEntityMapping", "NSObject"],
            ["NSMappingName": archive.string("M"), "NSMappingType": .integer(1), "NSAttributeMappings": archive.array([property])]
        )
        let root = archive.object(["NSMappingModel", "NSObject"], ["NSEntityMappings": archive.array([entity])])
        return Data(archive.bytes(root: root))
    }

    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 16
        }
    }
}
