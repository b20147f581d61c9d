import Foundation
import TestSupport
import Testing

@testable import ModelFormat

@Suite("A compiled model")
struct CompiledTests {
    /// Stands for a grammar: every text becomes a comparison with it.
    private static func parsed(_ predicate: Model.Predicate) -> Model.Predicate {
        guard case .format(let text) = predicate else { return predicate }
        return .comparison(.init(.evaluatedObject, .equalTo, .constant(.string(text))))
    }

    private static let parser = ModelTextParser(
        predicate: { parsed(.format($0)) },
        expression: { $0 == "ratio * 2" ? .text($0) : try ModelTextParser.none.expression($0) }
    )

    @Test("has everything that a source says, except what only editors need")
    func everythingCompiled() throws {
        var model = try Model(xml: Data(everything.utf8))
        model.entities[0].indexes[0].elements[2].expression = .function("multiply:by:", [.keyPath(nil, "ratio"), .constant(.integer(2))])
        let read = try Model(archive: model.archived(parser: Self.parser))
        let expected = model.compiledForm(Self.parsed)
        #expect(read.composites == expected.composites.reversed())
        var (first, second) = (read, expected)
        (first.composites, second.composites) = ([], [])
        #expect(lines(first) == lines(second))
    }

    @Test("refuses text that nobody can read")
    func text() throws {
        let model = try Model(xml: Data(everything.utf8))
        let error = #expect(throws: ModelFormatError.self) { try model.archived() }
        #expect(error?.reason.contains("text has no place in a compiled model") == true)
    }

    @Test("of Apple's compiler is the source", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func fixturesAndSources() throws {
        let pairs = [
            ("samplemodel/SampleModel.momd/SampleModel", "samplemodel/SampleModel.xcdatamodeld/SampleModel"),
            ("samplemodel/SampleModel.momd/SampleModel2", "samplemodel/SampleModel.xcdatamodeld/SampleModel2"),
            ("samplemodel/SampleModel.momd/SampleModel3", "samplemodel/SampleModel.xcdatamodeld/SampleModel3"),
            ("contacts-mom/Contacts", "contacts-mom/Contacts"),
        ]
        for (compiled, source) in pairs {
            var read = try Model(compiled: Fixtures.url(compiled + ".mom"))
            var expected = try Model(source: Fixtures.url(source + ".xcdatamodel")).compiledForm()
            // The compiler writes the old form of indexes beside the new one.
            for place in read.entities.indices { read.entities[place].compoundIndexes = [] }
            // It leaves out the classes of transformables, and ours does not.
            for entity in expected.entities.indices {
                for place in expected.entities[entity].attributes.indices {
                    expected.entities[entity].attributes[place].customClassName = nil
                }
            }
            // The file's request is older than the source's.
            #expect(read.fetchRequests.map(\.predicate?.format) == expected.fetchRequests.map(\.predicate?.format))
            (read.fetchRequests, expected.fetchRequests) = ([], [])
            #expect(lines(read) == lines(expected), "\(compiled)")
        }
    }

    @Test("is written so that reading it gives the same", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func fixturesAgain() throws {
        #expect(Fixtures.compiled.count >= 4)
        for path in Fixtures.compiled {
            let model = try Model(compiled: Fixtures.url(path))
            #expect(try Model(archive: model.archived()) == model, "\(path)")
        }
    }

    @Test("has the classes and keys of one by Apple's compiler", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func classesAndKeys() throws {
        for path in Fixtures.compiled {
            let data = try Fixtures.data(path)
            let (theirs, ours) = (try Self.shapes(in: data), try Self.shapes(in: Model(archive: data).archived()))
            #expect(ours == theirs, "\(path)")
        }
    }

    /// The classes of an archive with their lineages, and the sets of keys that their objects have.
    private static func shapes(in data: Data) throws -> [String] {
        let archive = try ArchiveReader(data)
        let shapes = try archive.objects.map { node -> String in
            guard case .dictionary(let keys) = node, let name = try archive.className(keys),
                case .dictionary(let description)? = try archive.value(keys["$class"]), case .array(let lineage)? = description["$classes"]
            else { return "" }
            return "\(name) \(lineage) \(keys.keys.sorted())"
        }
        // Whether an array can be changed means nothing.
        return Set(shapes.filter { !$0.hasPrefix("NSArray") && !$0.hasPrefix("NSMutableArray") }).sorted()
    }

    @Test("as an XML property list is read too")
    func xmlPropertyList() throws {
        let model = try Model(xml: Data(everything.utf8))
        let node = try PropertyListNode(model.archived(parser: Self.parser(for: model)))
        #expect(
            try Model(archive: Data(XMLPropertyList.text(of: node).utf8)) == Model(archive: model.archived(parser: Self.parser(for: model)))
        )
    }

    private static func parser(for model: Model) -> ModelTextParser {
        ModelTextParser(predicate: { parsed(.format($0)) }, expression: { _ in .evaluatedObject })
    }

    @Test("keeps default values of all classes")
    func defaults() throws {
        let foreign = try foreignObject()
        let values: [(Model.ValueType, Model.Value)] = [
            (.string, .string("é\"")), (.integer64, .integer(.min)), (.double, .real(-0.5)), (.boolean, .bool(false)),
            (.date, .date(1.5)), (.binaryData, .data(Data([1, 2, 3]))), (.uuid, .uuid(UUID())), (.uri, .uri("a://b")),
            (.decimal, .decimal(try #require(Decimal(string: "-12345678901234567890.0123456789")))), (.decimal, .decimal(0)),
            (.transformable, foreign),
        ]
        var (model, entity) = (Model(), Model.Entity())
        entity.name = "E"
        entity.attributes = values.enumerated().map { number, value in
            var attribute = Model.Attribute()
            (attribute.name, attribute.type, attribute.defaultValue) = ("a\(number + 10)", value.0, value.1)
            return attribute
        }
        model.entities = [entity]
        #expect(try Model(archive: model.archived()) == model)
    }

    /// An object of an unknown class with another one in it, which leads back.
    private func foreignObject() throws -> Model.Value {
        var archive = KeyedArchive()
        let (outer, inner) = (archive.reserve(), archive.reserve())
        archive.fill(outer, ["Module.Cover", "NSObject"], ["inner": inner, "text": archive.string("t"), "list": archive.array([inner])])
        archive.fill(inner, ["Module.Page", "NSObject"], ["outer": outer, "number": .integer(3)])
        let reader = try ArchiveReader(Data(archive.bytes(root: outer)))
        return .archived(className: "Module.Cover", try #require(reader.excerpt(at: try reader.root().index)))
    }
}

/// Property lists as XML text.
enum XMLPropertyList {
    static func text(of node: PropertyListNode) -> String { "<plist version=\"1.0\">\(element(node))</plist>" }

    private static func element(_ node: PropertyListNode) -> String {
        switch node {
        case .null: "<string>$null</string>"
        case .bool(let flag): flag ? "<true/>" : "<false/>"
        case .integer(let number): "<integer>\(number)</integer>"
        case .real(let number): "<real>\(number)</real>"
        case .date(let seconds): "<date>\(Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601))</date>"
        case .string(let text): "<string>\(escaped(text))</string>"
        case .data(let bytes): "<data>\(Data(bytes).base64EncodedString())</data>"
        case .reference(let index): "<dict><key>CF$UID</key><integer>\(index)</integer></dict>"
        case .array(let elements): "<array>\(elements.map(element).joined())</array>"
        case .dictionary(let entries): "<dict>\(entries.map { "<key>\(escaped($0))</key>\(element($1))" }.joined())</dict>"
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
