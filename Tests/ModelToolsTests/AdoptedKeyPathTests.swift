import ModelFormat
import ModelTools
import TestSupport
import Testing

@Suite("Classes adopted from a Mac's files say the names of their key paths")
struct AdoptedKeyPathTests {
    @Test("at the topmost class, with those of the classes below it")
    func hierarchy() async throws {
        let result = AdoptedSources(of: [animals])
        let lines = [
            "", "nonisolated extension Animal: KeyPathNaming {", "    public static var keyPathNames: [AnyKeyPath: String] {",
            "        var names: [AnyKeyPath: String] = [:]", #"        names[\Animal.born] = "born""#,
            #"        names[\Animal.name] = "name""#,
            #"        names[\Dog.age] = "age""#, #"        names[\Dog.born] = "born""#, #"        names[\Dog.friends] = "friends""#,
            #"        names[\Dog.name] = "name""#, #"        names[\Dog.owner] = "owner""#, "        return names", "    }", "}",
        ]
        #expect(result.keyPathNames == lines, "\(result.keyPathNames.joined(separator: "\n"))")
        #expect(try await complaints(about: result, isMainActors: false) == "")
    }

    @Test("and compile where the main actor is the default: what is its own is left out")
    func mainActor() async throws {
        let source = """
            import CoreData
            nonisolated class Shelf: NSManagedObject { @NSManaged var place: String? }
            nonisolated extension Shelf { @NSManaged var boxes: Set<Shelf> }
            extension Shelf { @NSManaged var label: String? }
            extension Shelf { @NSManaged nonisolated var width: Int16 }
            """
        let result = AdoptedSources(of: [SourceFile(path: "/app/Shelf.swift", text: source)])
        #expect(named(result) == ["boxes", "place", "width"])
        #expect(try await complaints(about: result, isMainActors: true) == "")
    }

    @Test(
        "but not where another file cannot see or name it, or somebody else does",
        arguments: [
            "private class A: NSManagedObject { @NSManaged var a: String? }",
            "class A: NSManagedObject { @NSManaged private var a: String? }",
            "class A: NSManagedObject { @available(*, deprecated) @NSManaged var a: String? }",
            "class A: NSManagedObject { @MainActor @NSManaged var a: String? }",
            "class A: NSManagedObject {}\nfileprivate extension A { @NSManaged var a: String? }",
            "class A<T>: NSManagedObject { @NSManaged var a: String? }",
            "func f() { class A: NSManagedObject { @NSManaged var a: String? } }",
            "class A: Elsewhere { @NSManaged var a: String? }",
            "class A: NSManagedObject { @NSManaged var a: String? }\nextension A: KeyPathNaming {}",
            "class A: NSManagedObject {}\nclass B: A { @NSManaged var a: String? }\nextension B: KeyPathNaming {}",
            "class A: NSManagedObject { @NSManaged var primitiveA: String? }",
            "enum E: Int16 { case a }\nclass A: NSManagedObject { @NSManaged var a: E; @NSManaged var b: TimeInterval }",
        ]
    )
    func leftOut(source: String) {
        #expect(AdoptedSources(of: [SourceFile(path: "A.swift", text: source)]).keyPathNames.isEmpty)
    }

    @Test("of what the target's model has, without transients and what is transformed; generated properties bring their own")
    func modelled() {
        var (own, made, transient, model) = (Model.Entity(), Model.Entity(), Model.Attribute(), Model())
        (own.name, own.className, own.codeGeneration) = ("A", "A", .manual)
        (made.name, made.className, made.codeGeneration) = ("B", "B", .category)
        var stored = Model.Attribute()
        (stored.name, transient.name, transient.isTransient) = ("a", "t", true)
        own.attributes = [stored, transient]
        model.entities = [own, made]
        let source = """
            class A: NSManagedObject { @NSManaged var a: String?; @NSManaged var t: String?; @NSManaged var other: String? }
            class B: NSManagedObject { @NSManaged var b: String? }
            """
        #expect(named(AdoptedSources(of: [SourceFile(path: "A.swift", text: source)], models: [model])) == ["a"])
    }

    private func named(_ result: AdoptedSources) -> [String] {
        result.keyPathNames.compactMap { $0.contains("] = \"") ? String($0.split(separator: "\"")[1]) : nil }
    }

    private func complaints(about result: AdoptedSources, isMainActors: Bool) async throws -> String {
        let folder = try TemporaryFolder()
        let names = try folder.write((["import CoreData"] + result.keyPathNames).joined(separator: "\n"), to: "Names.swift")
        let copies = try result.copies.enumerated().map { try folder.write($1.text, to: "\($0).swift") }
        return try await Compiler.complaints(about: copies + [names], module: "App", isMainActors: isMainActors)
    }

    private let animals = SourceFile(
        path: "/app/Animals.swift",
        text: """
            import CoreData
            @objc(Animal) public class Animal: NSManagedObject {
                @NSManaged public var name: String?
                @NSManaged public fileprivate(set) var born: Date?
                @NSManaged private var secret: String?
                var shown: String { name ?? "" }
            }
            final class Dog: Animal {}
            extension Dog {
                @NSManaged var age: Int16
                @NSManaged var owner: Animal?
                @NSManaged var friends: Set<Dog>
            }
            """
    )
}
