import Foundation
import ModelFormat
import TestSupport
import Testing

@testable import ModelTools

@Suite("Generated classes")
struct GeneratedClassTests {
    @Test(
        "of every fixture model compile without warnings in Swift 6 mode, in both styles",
        .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"),
        arguments: FixtureModel.all
    )
    func fixturesCompile(model: FixtureModel) async throws {
        for style in PropertyStyle.allCases {
            let folder = try TemporaryFolder()
            let (files, module, stubs) = try model.generated(as: style)
            let sources = try files.map { try folder.write($0.text, to: $0.name) } + [folder.write(stubs, to: "Stubs.swift")]
            let complaints = try await Compiler.complaints(about: sources, module: module)
            #expect(complaints.isEmpty, "\(complaints)")
        }
    }

    @Test("are tested with all fixture models", .enabled(if: Fixtures.areThere, "\(Fixtures.whyNot)"))
    func allAreThere() { #expect(FixtureModel.all.count >= 23) }

    @Test("say what the model says, as Xcode's do")
    func xcodeStyle() throws {
        let files = try sources(of: library)
        #expect(
            files.map(\.name) == [
                "Book+CoreDataClass.swift", "Book+CoreDataProperties.swift", "Person+CoreDataProperties.swift",
                "Library+CoreDataModel.swift",
            ]
        )
        expectLines(
            files[0].text,
            """
            nonisolated class Book: NSManagedObject {}
            """
        )
        expectLines(
            files[1].text,
            """
            nonisolated extension Book {
                /// The names of attributes and relationships, with their types.
                enum Keys {
                    static let `default` = Attribute<Bool>("default")
                    static let title = Attribute<String?>("title")
                    static let year = Attribute<Int16?>("year")
                    static let printed = Attribute<Date>("printed")
                    static let price = Attribute<Decimal?>("price")
                    static let authors = OrderedToMany<Person>("authors")
                    static let owner = ToOne<Person>("owner")
                }

                class func fetchRequest() -> NSFetchRequest<Book> {
                    NSFetchRequest<Book>(entityName: "Book")
                }

                var `default`: Bool {
                    get { self[Keys.`default`] }
                    set { self[Keys.`default`] = newValue }
                }

                var title: String? {
                    get { self[Keys.title] }
                    set { self[Keys.title] = newValue }
                }

                var year: NSNumber? {
                    get { self[Keys.year].map { NSNumber(value: $0) } }
                    set { self[Keys.year] = newValue?.int16Value }
                }

                var printed: TimeInterval {
                    get { self[Keys.printed].timeIntervalSinceReferenceDate }
                    set { self[Keys.printed] = Date(timeIntervalSinceReferenceDate: newValue) }
                }

                var price: NSDecimalNumber? {
                    get { self[Keys.price].map { NSDecimalNumber(decimal: $0) } }
                    set { self[Keys.price] = newValue?.decimalValue }
                }

                var authors: NSOrderedSet? {
                    get { foundationCollection(of: Keys.authors) }
                    set { setValue(newValue, forKey: "authors") }
                }

                var owner: Person? {
                    get { self[Keys.owner] }
                    set { self[Keys.owner] = newValue }
                }

                func insertIntoAuthors(_ value: Person, at idx: Int) { insert(value, into: Keys.authors, at: idx) }
            """
        )
        expectLines(
            files[2].text,
            """
                func addToBooks(_ value: Book) { add(value, to: Keys.books) }
                func removeFromBooks(_ value: Book) { remove(value, from: Keys.books) }
                func addToBooks(_ values: NSSet) { add(values, to: Keys.books) }
                func removeFromBooks(_ values: NSSet) { remove(values, from: Keys.books) }
            }

            nonisolated extension Person: Identifiable {}

            nonisolated extension Person: KeyPathNaming {
                static var keyPathNames: [AnyKeyPath: String] {
                    var names: [AnyKeyPath: String] = [:]
                    names[\\Person.books] = "books"
                    return names
                }
            }
            """
        )
    }

    @Test("have Swift's own types when asked for them")
    func swiftStyle() throws {
        let files = try sources(of: library, GenerationOptions(isPublic: true, style: .swift))
        let text = files.map(\.text).joined()
        for line in [
            "public nonisolated class Book: NSManagedObject {}", "    public var title: String {", "    public var year: Int16? {",
            "    public var printed: Date? {", "    public var authors: RelatedList<Person> {",
            "        _modify { yield &self[Keys.authors] }", "    public var books: RelatedSet<Book> {",
            "nonisolated extension NSFetchRequestResult where Self: Book {", "    public var authors: [Person] {",
            "    public var books: Set<Book> {",
            "        set { self[Person.Keys.books] = newValue }",
            "    public func addToBooks(_ values: Set<Book>) { add(values, to: Keys.books) }",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
    }

    @Test("are none for entities that are manual or have no class")
    func manual() throws {
        var model = library
        model.entities[0].codeGeneration = .manual
        model.entities[1].className = nil
        #expect(try sources(of: model).map(\.name) == ["Library+CoreDataModel.swift"])
    }

    @Test("inherit as the entities do, and are identifiable once")
    func inheritance() throws {
        var model = library
        var novel = Model.Entity()
        (novel.name, novel.className, novel.parent, novel.codeGeneration) = ("Novel", ".Novel", "Book", .class)
        model.entities.append(novel)
        let text = try sources(of: model).map(\.text).joined()
        #expect(text.contains("nonisolated class Novel: Book {}\n"))
        #expect(
            text.contains("    enum Keys {\n        static let `default` = Attribute<Bool>(\"default\")\n"),
            "A class has inherited keys, too."
        )
        #expect(text.contains("extension Book: Identifiable {}") && !text.contains("extension Novel: Identifiable {}"))
        #expect(text.contains("extension Book: KeyPathNaming {") && !text.contains("extension Novel: KeyPathNaming {"))
        #expect(text.contains("        names[\\Book.title] = \"title\"\n") && text.contains("        names[\\Novel.title] = \"title\"\n"))
    }

    @Test("compile whatever of Swift's names and ours the model has, in both styles", arguments: PropertyStyle.allCases)
    func names(style: PropertyStyle) async throws {
        let model = NamedEverything.model
        let options = GenerationOptions(moduleName: "Named", isPublic: true, style: style)
        let archive = try model.archived(parser: .predicates)
        let folder = try TemporaryFolder()
        let files = try swiftSources(of: model, named: "Clash", archive: archive, options)
        let sources = try files.map { try folder.write($0.text, to: $0.name) }
        #expect(files.count == 2 * NamedEverything.classes.count + 5)
        let complaints = try await Compiler.complaints(about: sources, module: "Named")
        #expect(complaints.isEmpty, "\(complaints)")
    }

    // * All sources of the target are the main actor's unless they say otherwise, as in new projects of Xcode's.
    // => Objects are made and changed on the queue of their context, without a warning.
    @Test("belong to no actor where the target has one by default", arguments: PropertyStyle.allCases)
    func isolation(style: PropertyStyle) async throws {
        let folder = try TemporaryFolder()
        let files = try sources(of: library, GenerationOptions(moduleName: "Library", style: style))
        let program = """
            import CoreData

            nonisolated class Person: NSManagedObject {}

            struct Shelf {
                func fill(_ context: NSManagedObjectContext) async {
                    await context.perform {
                        let book = Book(context: context)
                        (book.title, book.owner) = (nil ?? "", Person(context: context))
                        book.owner?.addToBooks(book)
                        _ = (book.authors, Book.fetchRequest(), Book.Keys.title, Book.keyPathNames, book.id, LibraryModel.model)
                    }
                }
            }
            """
        let written = try files.map { try folder.write($0.text, to: $0.name) } + [folder.write(program, to: "Program.swift")]
        let complaints = try await Compiler.complaints(about: written, module: "Library", isMainActors: true)
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test("have in their bodies what extensions override")
    func overrides() throws {
        let options = GenerationOptions(overrides: ["Book": ["override func willSave() { willSave_Book() }"]])
        expectLines(
            try sources(of: library, options)[0].text,
            """
            nonisolated class Book: NSManagedObject {
                override func willSave() { willSave_Book() }
            }
            """
        )
    }

    @Test("are refused with all reasons where Swift would not take the names")
    func refusal() throws {
        var model = library
        model.entities[0].attributes[0].name = "objectID"
        model.entities[1].className = "Book"
        model.entities[1].relationships[0].name = "the books"
        let error = #expect(throws: GenerationError.self) { try sources(of: model) }
        #expect(
            error?.reasons == [
                "Entities Book and Person both make a class Book.",
                "The property objectID of entity Book is one that all managed objects have: give it another name.",
                "The property \"the books\" of entity Person is no name in Swift.",
            ]
        )
        #expect(error?.places == [["Book", "Person"], ["Book", "objectID"], ["Person", "the books"]])
    }

    private func sources(of model: Model, _ options: GenerationOptions = GenerationOptions()) throws -> [GeneratedFile] {
        try swiftSources(of: model, named: "Library", archive: Data([1, 2, 3]), options)
    }

    private func expectLines(_ text: String, _ lines: String) {
        #expect(text.contains("\n" + lines + "\n"), "\(text)")
    }
}

/// Two entities with something of everything.
private let library: Model = {
    var (book, person, model) = (Model.Entity(), Model.Entity(), Model())
    (book.name, book.className, book.codeGeneration) = ("Book", ".Book", .class)
    book.attributes = [
        attribute("default", .boolean, isOptional: true, usesScalars: true), attribute("title", .string),
        attribute("year", .integer16, isOptional: true),
        attribute("printed", .date, isOptional: true, usesScalars: true), attribute("price", .decimal, isOptional: true),
    ]
    var (authors, owner, books) = (Model.Relationship(), Model.Relationship(), Model.Relationship())
    (authors.name, authors.destination, authors.inverse, authors.maxCount, authors.isOrdered) = ("authors", "Person", "books", 0, true)
    (owner.name, owner.destination, owner.isOptional) = ("owner", "Person", true)
    (books.name, books.destination, books.inverse, books.maxCount) = ("books", "Book", "authors", 0)
    book.relationships = [authors, owner]
    (person.name, person.className, person.codeGeneration) = ("Person", ".Person", .category)
    person.relationships = [books]
    model.entities = [book, person]
    return model
}()

/// A model of what generated code could stumble over.
private enum NamedEverything {
    static let classes = [
        "Any", "Array", "Attribute", "Bool", "ClashModel", "Data", "Date", "Decimal", "Double", "Error", "Float", "Identifiable",
        "IndexSet", "Int",
        "Int16", "Int32", "Int64", "Keys", "NSFetchRequest", "NSIndexSet", "NSManagedObjectID", "NSNumber", "NSObject", "NSOrderedSet",
        "NSSet", "Optional", "OrderedToMany", "Protocol", "RelatedList", "RelatedSet", "Self", "Set", "StaticString", "String",
        "TimeInterval",
        "ToMany", "ToOne", "Type", "URL", "UUID", "Void", "class", "default", "protocol",
    ]
    private static let properties = [
        "Any", "Attribute", "Int16", "Keys", "Protocol", "Self", "String", "ToMany", "ToOne", "Type", "Void", "add", "as", "associatedtype",
        "async", "await",
        "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "false",
        "fileprivate",
        "for", "func", "guard", "if", "import", "in", "inout", "insert", "internal", "is", "let", "newValue", "nil", "none", "operator",
        "private",
        "protocol", "public", "remove", "repeat", "replace", "rethrows", "return", "set", "some", "static", "struct", "subscript", "super",
        "switch", "throw",
        "throws", "true", "try", "typealias", "value", "values", "var", "where", "while", "willSet",
    ]

    /// An entity for each class, related to all others, with an attribute of each type; and one with all names of properties.
    static let model: Model = {
        var model = Model()
        for name in classes { model.entities.append(entity(name, attributes: Model.ValueType.allCases.filter { $0 != .composite })) }
        var last = Model.Entity()
        (last.name, last.className, last.codeGeneration) = ("Last", "Last", .class)
        last.attributes = properties.map { attribute($0, .string) }
        last.relationships = classes.map { relationship("to\($0)", $0, isMany: $0.count > 4, isOrdered: $0.count > 6) }
        var heir = Model.Entity()
        (heir.name, heir.className, heir.codeGeneration, heir.parent) = ("Heir", "Heir", .class, "Attribute")
        model.entities += [last, heir]
        return model
    }()

    private static func entity(_ name: String, attributes types: [Model.ValueType]) -> Model.Entity {
        var entity = Model.Entity()
        (entity.name, entity.className, entity.codeGeneration) = (name, name, .class)
        for (number, type) in types.enumerated() {
            entity.attributes.append(attribute("a\(number)", type, isOptional: true, usesScalars: number % 2 == 0))
            entity.attributes.append(attribute("b\(number)", type, isOptional: false, usesScalars: true))
        }
        entity.relationships = [
            relationship("one", name, isMany: false), relationship("many", name, isMany: true),
            relationship("list", "Attribute", isMany: true, isOrdered: true), relationship("set", "ToMany", isMany: true),
        ]
        return entity
    }

    private static func relationship(_ name: String, _ target: String, isMany: Bool, isOrdered: Bool = false) -> Model.Relationship {
        var relationship = Model.Relationship()
        (relationship.name, relationship.destination, relationship.isOptional, relationship.isOrdered) = (name, target, true, isOrdered)
        relationship.maxCount = isMany ? 0 : 1
        return relationship
    }
}

private func attribute(_ name: String, _ type: Model.ValueType, isOptional: Bool = false, usesScalars: Bool = false) -> Model.Attribute {
    var attribute = Model.Attribute()
    (attribute.name, attribute.type, attribute.isOptional, attribute.usesScalarValueType) = (name, type, isOptional, usesScalars)
    return attribute
}
