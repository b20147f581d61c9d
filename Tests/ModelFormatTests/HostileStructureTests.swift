import Foundation
import Testing

@testable import ModelFormat

@Suite("A file made to do harm")
struct HostileStructureTests {
    private func error(_ read: () throws -> some Any) -> String {
        do {
            _ = try read()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    /// An archive whose only entity has an attribute with these keys.
    private func archive(attribute: (inout KeyedArchive) throws -> [String: PropertyListNode]) throws -> Data {
        var archive = KeyedArchive()
        let keys = try attribute(&archive).merging(["NSPropertyName": archive.string("x"), "NSAttributeType": .integer(700)]) { first, _ in
            first
        }
        let made = archive.object(["NSDerivedAttributeDescription", "NSObject"], keys)
        let entity = archive.object(
            ["NSEntityDescription", "NSObject"],
            ["NSEntityName": archive.string("E"), "NSProperties": archive.dictionary([(archive.string("x"), made)])]
        )
        let entities = archive.dictionary([(archive.string("E"), entity)])
        let root = archive.object(["NSManagedObjectModel", "NSObject"], ["NSEntities": entities])
        return Data(archive.bytes(root: root))
    }

    @Test("with an expression that contains itself ends")
    func cyclicExpression() throws {
        let data = try archive { archive in
            let function = archive.reserve()
            let arguments = archive.array([function, function])
            let keys = ["NSOperand": function, "NSSelectorName": archive.string("f:"), "NSArguments": arguments]
            archive.fill(function, ["NSFunctionExpression", "NSObject"], keys)
            return ["NSDerivationExpression": function]
        }
        #expect(error { try Model(archive: data) }.hasSuffix("predicates are nested more than 100 levels deep"))
    }

    // Each level contains the next one twice: 2^60 parts.
    @Test("with an expression that contains another again and again ends")
    func sharedExpression() throws {
        let data = try archive { archive in
            var part = archive.object(["NSSelfExpression", "NSObject"], [:])
            for _ in 0..<60 {
                part = archive.object(["NSAggregateExpression", "NSObject"], ["NSCollection": archive.array([part, part])])
            }
            return ["NSDerivationExpression": part]
        }
        #expect(error { try Model(archive: data) }.hasSuffix("a predicate has more than 20000 parts"))
    }

    // A compiled model can have a URL for the default value of a date.
    @Test("with a default value of another kind than its attribute is not written as what could not be read")
    func strangeDefault() throws {
        var (model, entity, attribute) = (Model(), Model.Entity(), Model.Attribute())
        (attribute.name, attribute.type, attribute.defaultValue) = ("due", .date, .uri("a:b"))
        (entity.name, entity.attributes) = ("E", [attribute])
        model.entities = [entity]
        #expect(error { try model.xml() }.contains("defaultDateTimeInterval of a date is a:b, which is none"))
    }

    @Test("with a composite that contains itself ends")
    func cyclicComposite() throws {
        let data = try archive { archive in
            let inner = archive.reserve()
            let elements = archive.array([inner, inner])
            let keys = ["NSPropertyName": archive.string("y"), "NSAttributeType": .integer(2100), "NSElements": elements]
            archive.fill(inner, ["NSCompositeAttributeDescription", "NSObject"], keys)
            return ["NSAttributeType": .integer(2100), "NSElements": elements]
        }
        #expect(error { try Model(archive: data) }.hasSuffix("composites contain others without an end"))
        let source =
            #"<composite name="A"><attribute name="b" composite="B"/></composite><composite name="B"><attribute name="a" composite="A"/></composite>"#
        #expect(error { try Model(xml: Data("<model>\(source)</model>".utf8)) }.hasSuffix("composite A contains itself, or too much"))
    }

    @Test("with entities that inherit from each other ends")
    func cyclicInheritance() throws {
        let source = (0..<3).map { "<entity name=\"E\($0)\" parentEntity=\"E\(($0 + 1) % 3)\"/>" }.joined(separator: "\n")
        #expect(error { try Model(xml: Data("<model>\n\(source)</model>".utf8)) }.hasPrefix("line 2: entity E0 inherits from itself"))
        let deep = (0..<5000).map { "<entity name=\"E\($0)\"" + ($0 == 0 ? "/>" : " parentEntity=\"E\($0 - 1)\"/>") }.joined()
        #expect(error { try Model(xml: Data("<model>\(deep)</model>".utf8)) }.contains("over more than 256 levels"))
        var archive = KeyedArchive()
        let entity = archive.reserve()
        let keys = ["NSEntityName": archive.string("E"), "NSSuperentity": entity, "NSProperties": archive.dictionary([])]
        archive.fill(entity, ["NSEntityDescription", "NSObject"], keys)
        let entities = archive.dictionary([(archive.string("E"), entity)])
        let root = archive.object(["NSManagedObjectModel", "NSObject"], ["NSEntities": entities])
        let data = Data(archive.bytes(root: root))
        #expect(error { try Model(archive: data) }.contains("entity E inherits from itself"))
    }

    @Test("nested very deeply ends")
    func nesting() {
        let open = String(repeating: "<a>", count: 100_000)
        #expect(error { try Model(xml: Data("<model>\(open)".utf8)) }.contains("no well-formed XML"))
        let model = "<model>\n\(open)\(String(repeating: "</a>", count: 100_000))</model>"
        #expect(error { try Model(xml: Data(model.utf8)) }.contains("2: the elements are nested more than 256 levels deep"))
        // An array that contains itself.
        let list =
            Array("bplist00".utf8) + [0xa1, 0] + Array(repeating: 0, count: 90) + [8, 0, 0, 0, 0, 0, 0, 1, 1] + number(1) + number(0)
            + number(100)
        #expect(error { try Model(archive: Data(list)) }.hasSuffix("collections are nested more than 64 levels deep"))
    }

    // Ten arrays, each with the next one many times.
    @Test("with collections that are shared again and again ends")
    func sharing() {
        var (bytes, offsets) = (Array("bplist00".utf8), [UInt8]())
        for index in UInt8(0)..<10 {
            offsets.append(UInt8(bytes.count))
            bytes += index == 9 ? [0x09] : [0xae] + Array(repeating: index + 1, count: 14)
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + number(10) + number(0) + number(table)
        #expect(error { try Model(archive: Data(bytes)) }.hasSuffix("collections are contained in others again and again"))
    }

    @Test("that counts more than it has is refused before memory is taken", arguments: [0x4f, 0x5f, 0x6f, 0xaf, 0xdf] as [UInt8])
    func hugeCounts(marker: UInt8) {
        for count in [[0x13] + number(Int.max), [0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x12, 0x7f, 0xff, 0xff, 0xf0]] {
            let object = [marker] + count
            let list = Array("bplist00".utf8) + object + [8] + [0, 0, 0, 0, 0, 0, 1, 1] + number(1) + number(0) + number(8 + object.count)
            #expect(error { try Model(archive: Data(list)) } != "no error")
        }
        let trailer = Array("bplist00".utf8) + [0, 0, 0, 0, 0, 0, 8, 8] + number(Int.max) + number(Int.max) + number(Int.max)
        #expect(error { try Model(archive: Data(trailer)) }.hasSuffix("makes no sense"))
    }

    private func number(_ value: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(value).bigEndian, Array.init) }

    @Test("with entities of XML that grow is refused")
    func entities() {
        let definitions = (1..<12).map { "<!ENTITY e\($0) \"" + String(repeating: "&e\($0 - 1);", count: 12) + "\">" }.joined()
        let bomb = "<?xml version=\"1.0\"?><!DOCTYPE model [<!ENTITY e0 \"0123456789\">\(definitions)]><model name=\"&e11;\"/>"
        #expect(error { try Model(xml: Data(bomb.utf8)) }.contains("no well-formed XML"))
        let outside =
            "<?xml version=\"1.0\"?><!DOCTYPE model [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><model><entity name=\"A\"><x>&f;</x></entity></model>"
        let read = try? Model(xml: Data(outside.utf8))
        #expect(read?.entities.first?.extras.elements.first?.text ?? "" == "")
    }

    @Test(
        "or with a mistake is told by line and name",
        arguments: [
            ("<entity/>", "line 2: <entity> has no name"),
            ("<entity name=\"A\"/>\n<entity name=\"A\"/>", "line 3: two entities are named A"),
            (
                "<entity name=\"A\"><attribute name=\"x\"/>\n<relationship name=\"x\"/></entity>",
                "line 3: two properties of entity A are named x"
            ),
            ("<entity name=\"A\" parentEntity=\"B\"/>", "line 2: the parent of entity A is B, which is not in the model"),
            (
                "<entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"B\"/></entity>",
                "line 3: the destination of A.r is B, which is not in the model"
            ),
            (
                "<entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"A\" inverseName=\"s\"/></entity>",
                "line 3: the inverse of A.r is s, which is no relationship of A"
            ),
            (
                "<entity name=\"A\"><attribute name=\"x\" composite=\"C\"/></entity>",
                "line 2: A.x is of composite C, which is not in the model"
            ),
            (
                "<configuration name=\"C\"><memberEntity name=\"A\"/></configuration>",
                "line 2: a member of configuration C is A, which is not in the model"
            ),
            ("<fetchRequest name=\"f\" entity=\"A\"/>", "line 2: the entity of fetch request f is A, which is not in the model"),
            ("<entity name=\"A\" isAbstract=\"maybe\"/>", "line 2: isAbstract=\"maybe\" of <entity> is neither YES nor NO"),
            (
                "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Text\"/></entity>",
                "line 2: attributeType=\"Text\" of <attribute> is no type of attributes. There are Integer 16, Integer 32, Integer 64, "
                    + "Decimal, Double, Float, String, Boolean, Date, Binary, UUID, URI, Transformable, Object ID, Composite"
            ),
            (
                "<entity name=\"A\"><relationship name=\"x\" maxCount=\"many\"/></entity>",
                "line 2: maxCount=\"many\" of <relationship> is no whole number"
            ),
            ("<entity name=\"A\"><fetchedProperty name=\"x\"/></entity>", "line 2: fetched property x has 0 fetch requests, not one"),
            ("<?n?>", "line 2: the file has a processing instruction without content"),
            ("<?n\n?>", "line 2: the file has a processing instruction without content"),
            ("<entity", "line 3: the file is no well-formed XML (error 5 of the XML parser)"),
        ]
    )
    func mistakes(content: String, description: String) {
        #expect(error { try Model(xml: Data("<model>\n\(content)\n</model>".utf8)) } == description)
    }

    // NB: Foundation's parser tells of these errors, and then that all went well.
    @Test(
        "or with XML that is none is refused, and not read in part",
        arguments: [
            "<model/<a", "<model></model><x/>", "<model>\n<entity name=A/></model>", "<model><entity name=\"A\"</model>",
            "<model><a:b/></model>", "<model><entity name=\"A\" name=\"B\"/></model>", "<model>&x;</model>",
        ]
    )
    func malformed(source: String) {
        #expect(error { try Model(xml: Data(source.utf8)) }.contains("the file is no well-formed XML"))
    }

    @Test("or with a value of the wrong kind is told by object and key")
    func wrongTypes() throws {
        let said = error { try Model(archive: archive { ["NSAttributeType": $0.string("text")] }) }
        #expect(said.hasSuffix("NSDerivedAttributeDescription: NSAttributeType is a text, not a whole number"))
        #expect(said.hasPrefix("object "))
        #expect(error { try Model(archive: archive { _ in ["NSAttributeType": .integer(7)] }) }.hasSuffix("7 is no type of attributes"))
        #expect(error { try Model(archive: archive { _ in ["NSUserInfo": .reference(999)] }) }.hasSuffix("object 999 of 12 does not exist"))
    }
}
