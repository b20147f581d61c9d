import Foundation
import ModelFormat
import ModelTools
import TestSupport
import Testing

@Suite("Sources written for a Mac")
struct SourceAdoptionTests {
    @Test("become what Linux compiles, on their lines")
    func rewriting() throws {
        let result = AdoptedSources(of: files, models: [model])
        #expect(result.messages.isEmpty, "\(result.messages)")
        let lines = result.copies[0].text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let originals = todo.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.firstIndex(of: "#sourceLocation()") == originals.count + 1, "The lines are those of the original.")
        for line in [
            #"    let sort = NSSortDescriptor(key: "title"             , ascending: true, selector: Selector("localizedStandardCompare:")           )"#,
            #"    public required convenience init(context: NSManagedObjectContext) {"#,
            #"            format: "\("list.name"             ) == %@ AND %K != nil", "a", "created"             )"#,
            #"    static let key = "title"                                            "#,
            #"    var getter: Selector { Selector("title")        }"#,
            #"    public          func awakeFromInsert_Todo() {"#,
            #"    public var text:            NSExpression {            NSExpression(format: "1") }"#,
            #"    NSManagedObjectModel.registerClass(named: "TDTodo") { Todo.self }"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(
            lines.contains {
                $0.hasPrefix(
                    "public final class Todo: NSManagedObject { public override func awakeFromInsert() { awakeFromInsert_Todo() };"
                )
            }
        )
        #expect(result.overrides == ["List": ["public override func prepareForDeletion() { prepareForDeletion_List() }"]])
    }

    @Test("compile together with the classes of the model, in Swift 6 mode without warnings")
    func compiles() async throws {
        let folder = try TemporaryFolder()
        let result = AdoptedSources(of: files, models: [model])
        var options = GenerationOptions(moduleName: "App", isPublic: true, overrides: result.overrides)
        options.classNames = result.classNames
        let made = try swiftSource(of: model, named: "Todos", archive: Data([1]), options)
        let names = "import CoreData\npublic typealias NSExpression = CoreData.NSExpression"
        var sources = [try folder.write(made.text, to: made.name), try folder.write(names, to: "Names.swift")]
        for (number, copy) in result.copies.enumerated() { sources.append(try folder.write(copy.text, to: "\(number).swift")) }
        let complaints = try await Compiler.complaints(about: sources, module: "App")
        #expect(complaints.isEmpty, "\(complaints)")
    }

    // * A class' request, and a template, are cast to requests of another type; so are others, which may be of that type.
    // => The first have a warning with its place and a cure.
    @Test("are told of casts of requests, which fail on Linux")
    func casts() {
        let source = """
            let a = Todo.fetchRequest() as! NSFetchRequest<Todo>
            let b = a.copy() as! NSFetchRequest<Todo>
            let c = (request as? NSFetchRequest<NSFetchRequestResult>, b as! Todo, c as Any)
            let d = NSBatchDeleteRequest(fetchRequest: Todo.fetchRequest() as! NSFetchRequest<any NSFetchRequestResult>)
            let e = model.fetchRequestTemplate(forName: "open")?.copy() as? NSFetchRequest<Todo>
            let f = model.fetchRequestFromTemplate(withName: "of", substitutionVariables: ["A": name()]) as! NSFetchRequest<Todo>
            let g = model.fetchRequestTemplate(forName: "open")!.copy() as! NSFetchRequest<any NSFetchRequestResult>
            """
        let told = AdoptedSources(of: [SourceFile(path: "/a.swift", text: source)]).messages.map(\.description)
        let start = "warning: A request of one type is none of another on Linux, so that the cast fails: "
        let types = [
            "1:29: \(start)make it by NSFetchRequest<Todo>(", "4:64: \(start)make it by NSFetchRequest<any NSFetchRequestResult>(",
            "5:61: \(start)fetch with it as it is, and cast what is found, `try context.fetch(request) as! [Todo]`",
            "6:94: \(start)fetch with it",
        ]
        #expect(told.count == types.count && zip(told, types).allSatisfy { $0.hasPrefix("/a.swift:" + $1) }, "\(told)")
    }

    @Test(
        "are refused with line, column and a cure where there is no one right answer",
        arguments: [
            ("import UIKit", "1:8: error: Linux has no UIKit: put the import"),
            (
                "class A { func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {} }",
                "1:37: error: Linux has no such pointer: rules for one key go into `override func validateValue("
            ),
            ("@objc protocol P { @objc optional func f() }", "1:26: error: Only Objective-C has optional requirements"),
            ("extension Todo { convenience init(context: NSManagedObjectContext) {} }", "1:18: error: init(context:) is required on Linux"),
            ("let a = #selector(Todo.changed(_:with:))", "1:9: error: Nothing on Linux sends the selector `changed:with:`"),
            ("let a = #keyPath(Todo.titel)", "1:23: error: TDTodo has no titel in the model: is title meant?"),
            ("let a = #keyPath(Todo.list.todos.nmae)", "1:34: error: TDTodo has no nmae in the model: it has created, kind, list, title"),
            ("extension Todo { var a: String { #keyPath(titel) } }", "1:43: error: TDTodo has no titel"),
            ("let a = \"\\(#keyPath(Todo.titel)) == 1\"", "1:26: error: TDTodo has no titel"),
            ("let a = #keyPath(Todo)", "1:9: error: #keyPath names no property"),
            ("extension Todo { override var a: Int { didSet {} } }", "1:27: error: An extension cannot observe a property"),
            ("extension Other { override func willSave() {} }", "1:19: error: Swift lets no extension override without Objective-C"),
        ]
    )
    func refusal(source: String, message: String) {
        let result = AdoptedSources(of: [SourceFile(path: "A.swift", text: source)] + files, models: [model])
        #expect(
            result.messages.count == 1 && result.messages.first?.description.hasPrefix("A.swift:" + message) == true,
            "\(result.messages)"
        )
    }

    @Test("may name what classes declare beside the model, and what is compiled elsewhere")
    func knownKeys() {
        let source = """
            class Fast: Todo { var speed = 1 }
            let paths = [#keyPath(Todo.fullTitle), #keyPath(Fast.speed), #keyPath(Fast.title), #keyPath(Other.anything), #keyPath(Todo.objectID)]
            """
        #expect(AdoptedSources(of: [SourceFile(path: "A.swift", text: source)] + files, models: [model]).messages.isEmpty)
    }

    // * Classes of managed objects and others have properties with @objc: computed, stored, private, beside a look-up of their own.
    // => Key-value coding finds those that are computed, in classes that do not look up themselves.
    @Test("answer key-value coding for computed properties with @objc")
    func lookups() {
        let source = """
            class Base: NSManagedObject {
                @objc dynamic var initial: String { "a" }
                @objc var stored = 1
                @objc var observed: Int = 2 { didSet {} }
                @objc private var hidden: Int { 3 }
                @objc class var shared: Int { 4 }
                @objc func method() {}
            }
            class Fast: Base { @objc var `class`: String? { get { nil } set {} } }
            class Own: Base {
                @objc var other: Int { 5 }
                override func value(forUndefinedKey key: String) -> Any? { nil }
            }
            class View: NSObject { @objc var size: Int { 6 } }
            extension List { @objc var count: Int { 7 }; @objc var state: State { .new } }
            @objc enum State: Int16 { case new }
            @objc
            """
        let result = AdoptedSources(of: [SourceFile(path: "A.swift", text: source)], models: [model])
        func lookup(_ cases: String) -> String {
            "public override func value(forUndefinedKey key: String) -> Any? { switch key { \(cases); "
                + "default: return super.value(forUndefinedKey: key) } }"
        }
        let text = result.copies[0].text
        #expect(text.components(separatedBy: "switch key").count == 3)
        #expect(text.contains("class Base: NSManagedObject { \(lookup("case \"initial\": return self.initial as Any?"));"), "\(text)")
        #expect(text.contains("class Fast: Base { \(lookup("case \"class\": return self.`class` as Any?"));"), "\(text)")
        let numbers = "case \"count\": return NSNumber(value: self.count); case \"state\": return NSNumber(value: self.state.rawValue)"
        #expect(result.overrides == ["List": [lookup(numbers)]])
    }

    // * Properties that are managed, computed and primitive have another name for Objective-C; key paths lead to them.
    // => That name is the key.
    @Test("have the keys that Objective-C has for properties")
    func objectiveCKeys() {
        let source = """
            class Fast: Todo {
                @NSManaged @objc(speed) var velocity: Double
                @objc(pace) @NSManaged var step: URL?
                @NSManaged @objc(primitivePace) var own: URL?
                @objc(label) var text: String { "a" }
                static let keys = [#keyPath(Fast.velocity), #keyPath(text), #keyPath(Fast.list.count), #keyPath(Todo.list.name)]
            }
            class Faster: Fast { static let (key, selector) = (#keyPath(Faster.step), #selector(getter: velocity)) }
            extension List { @objc(size) var count: Int { 7 } }
            """
        let result = AdoptedSources(of: [SourceFile(path: "A.swift", text: source)] + files, models: [model])
        let text = result.copies[0].text
        #expect(result.messages.isEmpty, "\(result.messages)")
        for part in [
            #"NSManagedObject.Attribute<Double>("speed")"#, #"self.value(forKey: "pace") as? URL"#,
            #"self.primitiveValue(forKey: "pace") as? URL"#, #"case "label": return self.text as Any?"#, #"keys = ["speed""#,
            #""list.size""#, #""list.name""#, #"= ("pace""#, #"Selector("speed")"#,
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        #expect(result.overrides["List"]?.contains { $0.contains(#"case "size": return NSNumber(value: self.count)"#) } == true)
        #expect(result.keyPathNames.contains { $0.contains(#"\Fast.step] = "pace""#) }, "\(result.keyPathNames)")
    }

    // * Classes of values say their names in Objective-C: one archives itself, one by an extension, one by its superclass, one is in another type, one does not.
    // => Those that archive themselves are known by that name, which has no module before it.
    @Test("know the names that archives have for classes of values")
    func archivedNames() {
        let source = """
            import Foundation
            @objc(Colour) public class Colour: NSObject, NSSecureCoding {}
            @objc(Shade) private final class Shade: Colour {}
            @objc(Shape) class Shape: NSObject {}
            extension Shape: NSCoding {}
            enum Style { @objc(Line) final class Line: NSObject, NSCoding {} }
            @objc(Plain) class Plain: NSObject {}
            """
        let text = AdoptedSources(of: [SourceFile(path: "A.swift", text: source)], models: []).copies.first?.text ?? ""
        for line in [
            #"registerClass(named: "Colour") { Colour.self }"#, #"registerClass(named: "Shade") { Shade.self }"#,
            #"registerClass(named: "Shape") { Shape.self }"#, #"registerClass(named: "Line") { Style.Line.self }"#, "import CoreData",
        ] {
            #expect(text.contains(line), "\(line) in \(text)")
        }
        #expect(!text.contains(#""Plain""#))
    }

    // * A class has @objcMembers; another one inherits from it; an extension has @objc.
    // => All their properties are found by name but those that Objective-C would not see, or that only an await or a try reads.
    @Test("answer key-value coding for all that a class or an extension shows to Objective-C")
    func shownMembers() {
        let source = """
            @objcMembers public class Base: NSManagedObject {
                public private(set) var initial: String { get { "a" } set {} }
                private var hidden: Int { 1 }
                @nonobjc var plain: Int { 2 }
                @MainActor var view: Int { 3 }
                var later: Int { get async { 4 } }
                static var shared: Int { 5 }
                var stored = 6
            }
            class Fast: Base { var speed: Int { var local: Int { 7 }; return local } }
            @objc(Slow) class Slow: NSManagedObject { var size: Int { 10 } }
            @objc extension List { var count: Int { 8 } }
            extension List { var other: Int { 9 } }
            """
        let result = AdoptedSources(of: [SourceFile(path: "A.swift", text: source)], models: [model])
        let text = result.copies[0].text
        for cases in ["\"initial\": return self.initial as Any?", "\"speed\": return NSNumber(value: self.speed)"] {
            #expect(text.contains("{ switch key { case \(cases); default"), "\(text)")
        }
        #expect(text.components(separatedBy: "switch key").count == 3)
        let shown = result.overrides["List"] ?? []
        #expect(
            shown.count == 1 && shown[0].contains("{ switch key { case \"count\": return NSNumber(value: self.count); default"),
            "\(shown)"
        )
    }

    // * Enumerations are declared in the class that has a property of theirs, in the class above and outside, some under one name.
    // => Each property is kept, and read by name, as the number of the one that Swift takes.
    @Test("know enumerations by the types that they are declared in")
    func nestedEnumerations() {
        let source = """
            class Base: NSManagedObject { @objc enum Kind: Int32 { case a } }
            class Fast: Base {
                @objc(FastState) enum State: Int16 { case a }
                @NSManaged var state: State
                @NSManaged var kind: Kind
                @objc var other: State { .a }
                @objc var outer: Outer.State { .a }
                @objc var mode: Mode { Mode(rawValue: "a")! }
                @objc var seconds: TimeInterval { 1 }
            }
            enum Outer { enum State: Int64 { case a } }
            enum Mode: String { case a }
            extension Fast { @NSManaged var last: Outer.State }
            """
        let text = AdoptedSources(of: [SourceFile(path: "A.swift", text: source)], models: [model]).copies[0].text
        for (number, made) in ["Int16>(\"state\")", "Int32>(\"kind\")", "Int64>(\"last\")"].enumerated() {
            #expect(text.contains("static let key\(number) = NSManagedObject.Attribute<\(made)"), "\(text)")
        }
        let values = [
            "NSNumber(value: self.other.rawValue)", "NSNumber(value: self.outer.rawValue)", "self.mode as Any?",
            "NSNumber(value: self.seconds)",
        ]
        for value in values { #expect(text.contains("return \(value);"), "\(text)") }
    }

    // * A computed property of the name of an attribute, as a section's title is that a transient keeps; beside an override of its own.
    // => Whoever reads by name gets what the property says.
    @Test("have accessors of the model's attributes read by name")
    func accessors() {
        let source = """
            class TDTodo: NSManagedObject { @objc var title: String? { primitiveValue(forKey: "title") as? String ?? "-" } }
            class Own: NSManagedObject {
                @objc var title: String? { "-" }
                override func value(forKey key: String) -> Any? { nil }
            }
            """
        let text = AdoptedSources(of: [SourceFile(path: "A.swift", text: source)], models: [model]).copies[0].text
        let lookup = "public override func value(forKey key: String) -> Any? { switch key { case \"title\": return self.title as Any?; "
        #expect(text.components(separatedBy: lookup + "default: return super.value(forKey: key) } }").count == 2, "\(text)")
    }

    @Test("give one warning, which says what to exclude, where they are compiled as they are")
    func warning() {
        let source = "import CoreData\n#if os(macOS)\n@objc class A {}\n#endif\n// @objc\n  @objc(B) class B { let a = #keyPath(B.a) }\n"
        let message = exclusionWarning(
            for: SourceFile(path: "/app/Sources/App/Model/B.swift", text: source),
            folder: "/app/Sources/App",
            target: "App"
        )
        #expect(
            message?.description
                == "/app/Sources/App/Model/B.swift:6:3: warning: Linux cannot compile @objc: exclude the file, and the plugin compiles a copy that it "
                + "can. In Package.swift, target App: exclude: [\"Model/B.swift\"]"
        )
        let plain = SourceFile(path: "A.swift", text: "#if canImport(UIKit)\n@objc class A {}\n#endif\nlet a = \"@objc\"")
        #expect(exclusionWarning(for: plain, folder: "", target: "App") == nil)
    }

    @Test(
        "give that warning of key paths and selectors",
        arguments: ["#keyPath(B.a)", "#selector(NSString.compare(_:))", "#selector(getter: B.a)"]
    )
    func literalWarning(literal: String) {
        let message = exclusionWarning(for: SourceFile(path: "/app/B.swift", text: "let a = \(literal)"), folder: "/app", target: "App")
        let name = literal.prefix { $0 != "(" }
        #expect(message?.description.hasPrefix("/app/B.swift:1:9: warning: Linux cannot compile \(name): exclude the file") == true)
    }

    @Test("give that warning of an override in an extension, too, also where nothing is Objective-C's")
    func overrideWarning() {
        let source = "class A { override func f() {} }\nextension B {\n    public override func awakeFromInsert() {}\n}\n"
        let message = exclusionWarning(for: SourceFile(path: "/app/B.swift", text: source), folder: "/app", target: "App")
        #expect(
            message?.description.hasPrefix("/app/B.swift:3:12: warning: Linux cannot compile an override in an extension: exclude") == true
        )
        let plain = "extension B {\n    var override: Int { 1 }\n    func f() { print(override) }\n}\nclass C { override func f() {} }"
        #expect(exclusionWarning(for: SourceFile(path: "B.swift", text: plain), folder: "", target: "App") == nil)
    }

    private var files: [SourceFile] {
        [SourceFile(path: "/app/Todo.swift", text: todo), SourceFile(path: "/app/Hooks.swift", text: hooks)]
    }

    private let model: Model = {
        var (todo, list, model) = (Model.Entity(), Model.Entity(), Model())
        (todo.name, todo.className) = ("Todo", "TDTodo")
        (list.name, list.className, list.codeGeneration) = ("List", "List", .class)
        var (toList, toTodos, kind) = (Model.Relationship(), Model.Relationship(), Model.Attribute())
        (toList.name, toList.destination, toList.isOptional) = ("list", "List", true)
        (toTodos.name, toTodos.destination, toTodos.maxCount) = ("todos", "Todo", 0)
        (kind.name, kind.type) = ("kind", .integer16)
        var (title, created, name) = (Model.Attribute(), Model.Attribute(), Model.Attribute())
        (title.name, title.type) = ("title", .string)
        (created.name, created.type) = ("created", .date)
        (name.name, name.type) = ("name", .string)
        (todo.attributes, todo.relationships) = ([title, created, kind], [toList])
        (list.attributes, list.relationships) = ([name], [toTodos])
        model.entities = [todo, list]
        return model
    }()
}

private let todo = #"""
    import Foundation
    import CoreData
    #if canImport(UIKit)
    import UIKit
    #endif

    @objc enum Kind: Int16 { case plain, urgent }

    @objcMembers
    @objc(TDTodo)
    public final class Todo: NSManagedObject {
        @NSManaged public var title: String?
        @NSManaged public var created: Date?
        @NSManaged public var list: List?
        @NSManaged var kind: Kind
        @objc public var fullTitle: String { "\(title ?? "?") of \(list?.name ?? "?")" }

        public convenience init(context: NSManagedObjectContext) {
            self.init(entity: NSEntityDescription.entity(forEntityName: "Todo", in: context)!, insertInto: context)
            created = Date()
        }
        @objc public func validateTitle() -> Bool { title != nil }

        func sorts() -> [NSSortDescriptor] {
        let sort = NSSortDescriptor(key: #keyPath(Todo.title), ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))
            return [sort, NSSortDescriptor(key: #keyPath(title), ascending: true, selector: #selector(NSString.caseInsensitiveCompare))]
        }
        func predicate() -> NSPredicate {
            NSPredicate(
                format: "\(#keyPath(Todo.list.name)) == %@ AND %K != nil", "a", #keyPath(Todo.created))
        }
        static let key = NSStringFromSelector(#selector(getter: Todo.title))
        var getter: Selector { #selector(getter: title) }
        public var text: Foundation.NSExpression { Foundation.NSExpression(format: "1") }
    }

    extension Todo {
        public override func awakeFromInsert() {
            super.awakeFromInsert()
            setPrimitiveValue(Date(), forKey: #keyPath(Todo.created))
        }
        override public func willSave() { super.willSave() }
        public override var debugDescription: String { "Todo" }
        @objc override open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
    }

    @objc(TDUpper)
    class Upper: Foundation.ValueTransformer {
        override class func allowsReverseTransformation() -> Bool { true }
    }
    """#

private let hooks = """
    import CoreData

    extension List {
        public override func prepareForDeletion() {
            super.prepareForDeletion()
            print(#keyPath(List.todos.title))
        }
    }
    """
