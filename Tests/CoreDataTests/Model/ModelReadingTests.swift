import Foundation
import ModelFormat
import Predicates
import TestSupport
import Testing

@testable import CoreData

@Suite("A model from a file")
struct ModelReadingTests {
    private func model(_ content: String) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(Model(xml: Data("<model>\(content)</model>".utf8)))
    }

    private static let library = """
        <entity name="Work" isAbstract="YES" representedClassName=".Work" elementID="Opus" versionHashModifier="2">
            <attribute name="title" attributeType="String" minValueString="1" maxValueString="80" regularExpressionString="[A-Z].*"/>
            <attribute name="pages" optional="YES" attributeType="Integer 16" defaultValueString="12" minValueString="1" indexed="YES"/>
            <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="9.5"/>
            <attribute name="date" optional="YES" attributeType="Date" minDateTimeInterval="0" defaultDateTimeInterval="10"/>
            <attribute name="link" optional="YES" attributeType="URI" defaultValueString="https://a.b"/>
            <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
            <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="chapters.@count"/>
            <attribute name="both" optional="YES" attributeType="String" derived="YES" derivationExpression="first ++ last"/>
            <relationship name="chapters" optional="YES" toMany="YES" ordered="YES" maxCount="9" deletionRule="Cascade" \
        destinationEntity="Chapter" inverseName="work"/>
            <fetchedProperty name="others" optional="YES"><fetchRequest name="r" entity="Work" predicateString="TRUEPREDICATE"/></fetchedProperty>
            <fetchIndex name="byTitle" partialIndexPredicate="pages > 3">
                <fetchIndexElement property="title" type="Binary" order="descending"/>
                <fetchIndexElement expression="pages * 2" expressionType="Integer 64" type="Binary"/>
            </fetchIndex>
            <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint></uniquenessConstraints>
            <userInfo><entry key="k" value="v"/></userInfo>
        </entity>
        <entity name="Book" parentEntity="Work"/>
        <entity name="Chapter">
            <relationship name="work" maxCount="1" deletionRule="Deny" destinationEntity="Work" inverseName="chapters"/>
        </entity>
        <composite name="Place"><attribute name="x" attributeType="Double" defaultValueString="0.5"/></composite>
        <configuration name="Local"><memberEntity name="Chapter"/></configuration>
        """

    @Test("has bounds of Float attributes that a Float can be equal to")
    func floatBounds() throws {
        let attribute = #"<attribute name="x" attributeType="Float" minValueString="0.1" maxValueString="0.3"/>"#
        let model = try model("<entity name=\"E\">\(attribute)</entity>")
        let predicates = try #require(model.entitiesByName["E"]?.attributesByName["x"]).validationPredicates
        #expect(predicates.count == 2)
        for (value, isValid) in [(Float(0.1), true), (0.3, true), (Float(0.1).nextDown, false), (Float(0.3).nextUp, false)] {
            #expect(predicates.allSatisfy { $0.evaluate(with: NSNumber(value: value)) } == isValid, "\(value)")
        }
    }

    @Test("has descriptions with everything that the file says")
    func descriptions() throws {
        let model = try model(Self.library)
        let work = try #require(model.entitiesByName["Work"])
        #expect(work.isAbstract && work.managedObjectClassName == "Work" && work.renamingIdentifier == "Opus")
        #expect(work.versionHashModifier == "2" && work.userInfo?["k"] as? String == "v")
        #expect(work.subentities.map(\.name) == ["Book"] && model.entitiesByName["Book"]?.managedObjectClassName == "NSManagedObject")
        #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["Chapter"])
        let attributes = work.attributesByName
        #expect(attributes["pages"]?.defaultValue as? Int == 12 && attributes["price"]?.defaultValue as? NSDecimalNumber == 9.5)
        #expect(attributes["date"]?.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 10))
        #expect(attributes["link"]?.defaultValue as? URL == URL(string: "https://a.b"))
        let elements = (attributes["place"] as? NSCompositeAttributeDescription)?.elements
        #expect(elements?.map(\.name) == ["x"] && elements?.first?.defaultValue as? Double == 0.5)
        #expect((attributes["count"] as? NSDerivedAttributeDescription)?.derivationExpression?.description == "chapters.@count")
        #expect((attributes["both"] as? NSDerivedAttributeDescription)?.derivation?.description == "first ++ last")
        let chapters = try #require(work.relationshipsByName["chapters"])
        #expect(chapters.isOrdered && chapters.maxCount == 9 && chapters.deleteRule == .cascadeDeleteRule)
        #expect(chapters.inverseRelationship?.inverseRelationship === chapters && chapters.inverseRelationship?.isOptional == false)
        #expect(work.propertiesByName["others"] is NSFetchedPropertyDescription)
    }

    @Test("has its indexes, those of the old forms too")
    func indexes() throws {
        let work = try #require(model(Self.library).entitiesByName["Work"])
        #expect(work.indexes.map(\.name) == ["byTitle", "pages"])
        #expect(work.indexes[0].elements.map(\.isAscending) == [false, true])
        #expect(work.indexes[0].partialIndexPredicate?.printedFormat == "pages > 3")
        #expect((work.indexes[0].elements[1].property as? NSExpressionDescription)?.expression?.description == "pages * 2")
        #expect(work.uniquenessConstraints as? [[String]] == [["title"]])
    }

    @Test("validates values by its bounds")
    func validations() throws {
        let attributes = try #require(model(Self.library).entitiesByName["Work"]).attributesByName
        let title = try #require(attributes["title"])
        #expect(title.validationWarnings as? [String] == ["1670", "1660", "1680"])
        #expect(title.validationPredicates.map { $0.evaluate(with: "") } == [false, true, false])
        #expect(title.validationPredicates.map { $0.evaluate(with: "Abc") } == [true, true, true])
        #expect(attributes["pages"]?.validationPredicates.map(\.printedFormat) == ["SELF >= 1"])
        #expect(attributes["date"]?.validationPredicates.map { $0.evaluate(with: Date.distantPast) } == [false])
    }

    @Test(
        "that contradicts itself, or cannot be used, is an error that says why",
        arguments: [
            (#"<entity name="A"/><entity name="A"/>"#, "two entities are named A"),
            (#"<entity name="a b"/>"#, "An entity is named “a b”"),
            (#"<entity name="A" parentEntity="B"/><entity name="B" parentEntity="A"/>"#, "entity A inherits from itself"),
            (#"<entity name="A"><attribute name="x"/></entity>"#, "A.x has no type"),
            (#"<entity name="A"><relationship name="r"/></entity>"#, "A.r has no destination"),
            (
                #"<entity name="A"><attribute name="x" attributeType="String" regularExpressionString="(("/></entity>"#,
                "cannot be evaluated"
            ),
            (
                #"<entity name="A"><fetchIndex name="i" partialIndexPredicate="x =="><fetchIndexElement property="x"/></fetchIndex></entity>"#,
                "names x"
            ),
            (
                #"<entity name="A"><uniquenessConstraints><uniquenessConstraint><constraint value="n"/></uniquenessConstraint></uniquenessConstraints></entity>"#,
                "names n"
            ),
            (
                #"<entity name="A"><relationship name="r" destinationEntity="A" inverseName="s"/><relationship name="s" destinationEntity="A"/></entity>"#,
                "does not lead back"
            ),
        ]
    )
    func errors(content: String, sentence: String) throws {
        let error = #expect(throws: (any Error).self) { try model(content) }
        let said = error?.localizedDescription ?? ""
        #expect(said.contains(sentence), "\(said)")
    }

    @Test("is nil where there is none; the error tells the file")
    func missing() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("None.momd")
        #expect(NSManagedObjectModel(contentsOf: url) == nil)
        let missing = #expect(throws: CocoaError.self) { try NSManagedObjectModel(reading: url) }
        #expect(missing?.code == .fileReadNoSuchFile)
        let broken = folder.file("Broken.mom")
        try Data("bplist00".utf8).write(to: broken)
        #expect(NSManagedObjectModel(contentsOf: broken) == nil)
        let error = #expect(throws: CocoaError.self) { try NSManagedObjectModel(reading: broken) }
        #expect(error?.code == .fileReadCorruptFile)
        #expect(error?.localizedDescription == "\(broken.path), byte 0: the binary property list is cut short.")
    }

    // * A source with derived attributes and predicates as text is compiled and read.
    // => Texts and objects mean the same.
    @Test("has the same hashes, indexes and validations from a source and compiled")
    func compiled() throws {
        let source = try Model(xml: Data("<model>\(Self.compilable)</model>".utf8))
        let (first, second) = try (
            NSManagedObjectModel(source), NSManagedObjectModel(Model(archive: source.archived(parser: .predicates)))
        )
        #expect(first.entityVersionHashesByName == second.entityVersionHashesByName)
        let (work, other) = try (#require(first.entitiesByName["Work"]), #require(second.entitiesByName["Work"]))
        #expect(work.indexes.map(\.partialIndexPredicate?.printedFormat) == other.indexes.map(\.partialIndexPredicate?.printedFormat))
        for (name, attribute) in work.attributesByName {
            let compiled = try #require(other.attributesByName[name])
            #expect(attribute.validationPredicates.map(\.printedFormat) == compiled.validationPredicates.map(\.printedFormat), "\(name)")
            #expect("\(attribute.defaultValue ?? "nil")" == "\(compiled.defaultValue ?? "nil")", "\(name)")
        }
        let elements = (other.attributesByName["place"] as? NSCompositeAttributeDescription)?.elements
        #expect(elements?.map(\.name) == ["x"])
    }

    /// The library without an expression that only Apple's compiler reads.
    private static let compilable = library.replacingOccurrences(of: "first ++ last", with: "title")

    @Test("that is no good is an error, or a model that can be used", arguments: 0..<4)
    func hostile(round: UInt64) throws {
        var generator = TestGenerator(seed: 31 &+ round)
        let archive = Array(try Model(xml: Data("<model>\(Self.compilable)</model>".utf8)).archived(parser: .predicates))
        let source = Array("<model>\(Self.library)</model>".utf8)
        for number in 0..<25 {
            var (archive, source) = (archive, source)
            for _ in 0...Int(generator.next() % 3) {
                archive[Int(generator.next() % UInt64(archive.count))] = UInt8(truncatingIfNeeded: generator.next())
                source[Int(generator.next() % UInt64(source.count))] = UInt8(truncatingIfNeeded: generator.next() & 0x7f)
            }
            for read in [{ try Model(archive: Data(archive)) }, { try Model(xml: Data(source)) }] {
                guard let model = try? NSManagedObjectModel(read()) else { continue }
                model.freeze()
                #expect(model.versionChecksum.count == 44, "round \(round), number \(number)")
            }
        }
    }

    private struct TestGenerator: RandomNumberGenerator {
        private var state: UInt64
        init(seed: UInt64) { state = seed }

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 16
        }
    }
}
