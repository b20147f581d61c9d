import Foundation
import ModelFormat
import TestSupport
import Testing

@Suite("The source of a model")
struct SourceTests {
    private let model = try? Model(xml: Data(everything.utf8))

    @Test("is read with every element and attribute")
    func reading() throws {
        let model = try #require(model)
        #expect(model.entities.map(\.name) == ["Base", "Sub", "Plain"])
        #expect(model.versionIdentifiers == ["v1"])
        #expect(model.editor.isUsedWithCloudKit == false && model.editor.isUsedWithSwiftData == true)
        let base = model.entities[0]
        #expect((base.className, base.plainClassName, base.codeGeneration) == (".Base", "Base", .category))
        #expect(base.isAbstract && base.renamingIdentifier == "Old" && base.versionHashModifier == "m")
        #expect(base.uniquenessConstraints == [["id"], ["name", "date"]] && base.compoundIndexes == [["small", "large"]])
        #expect(base.userInfo == ["e": .string("f")])
        #expect(model.entities[1].parent == "Base")
        #expect(model.composites.map(\.name) == ["Place", "Inner"])
        #expect(model.configurations.first?.members == ["Base", "Sub"])
        #expect(model.layout.map(\.positionY) == ["-18", "0.5"])
    }

    @Test("has attributes of all types, with typed values")
    func attributes() throws {
        let attributes = try #require(model).entities[0].attributes
        let byName = Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0) })
        #expect(Set(attributes.map(\.type)) == Set(Model.ValueType.allCases).subtracting([.objectID]))
        #expect(byName["small"]?.defaultValue == .integer(-1) && byName["small"]?.maximum == .integer(5))
        #expect(byName["price"]?.defaultValue == .decimal(12.5))
        #expect(byName["name"]?.minimum == .integer(1) && byName["name"]?.pattern == "[a-z&<]+")
        #expect(byName["name"]?.userInfo["a"] == .string("line\nbreak \"é\""))
        #expect(byName["date"]?.defaultValue == .date(708_103_500) && byName["date"]?.dateTexts["maxValueString"] == "12/4/2013")
        #expect(byName["count"]?.derivation == .text("parts.@count"))
        #expect(byName["computed"]?.isTransient == true)
        #expect(byName["place"]?.composite == "Place")
    }

    @Test("has relationships, fetched properties, indexes and fetch requests")
    func others() throws {
        let model = try #require(model)
        let base = model.entities[0]
        #expect(base.relationships.map(\.isToMany) == [true, false, true])
        #expect(base.relationships.map(\.maxCount) == [20, 1, 0])
        #expect(base.relationships.map(\.deleteRule) == [.cascade, .deny, .noAction])
        #expect(base.fetchedProperties.first?.request.predicate == .format("price < $FETCH_SOURCE.price"))
        #expect(base.indexes.first?.elements.map(\.isAscending) == [true, false, true])
        #expect(base.indexes.first?.elements.last?.collation == .rTree)
        let request = model.fetchRequests[1]
        #expect((request.fetchLimit, request.fetchBatchSize, request.resultType) == (220, 20, 1))
        #expect(request.options == [.includesSubentities, .includesPendingChanges, .returnsObjectsAsFaults, .returnsDistinctResults])
        #expect(model.fetchRequests[0].options == .standard)
    }

    @Test("is told by what is unknown in it")
    func unknowns() throws {
        #expect(
            try #require(model).unknowns == [
                "model: unknown attribute future=\"1\"", "entity Base: unknown element <unheardOf>",
                "entity Sub: unknown attribute later=\"x\"", "composite Inner, attribute y: unknown attribute whatever=\"z\"",
            ]
        )
    }

    @Test("is written so that reading it gives the same, and nothing is lost")
    func writing() throws {
        let model = try #require(model)
        let written = try model.xml()
        #expect(try Model(xml: written) == model)
        #expect(XMLLines.lines(of: written) == XMLLines.lines(of: Data(everything.utf8)))
    }

    @Test("of a real model loses nothing", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func fixtures() throws {
        #expect(Fixtures.sources.count >= 20)
        for path in Fixtures.sources {
            let data = try Fixtures.data(path)
            let model = try Model(xml: data)
            let written = try model.xml()
            #expect(try Model(xml: written) == model, "\(path)")
            #expect(XMLLines.lines(of: written) == XMLLines.lines(of: data), "\(path)")
            #expect(model.unknowns == [], "\(path)")
            #expect(model.problems() == [], "\(path)")
        }
    }
}
