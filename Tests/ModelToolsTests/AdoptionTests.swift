import Foundation
import ModelTools
import TestSupport
import Testing

@Suite("Adopted source")
struct AdoptionTests {
    @Test("has bodies for what @NSManaged declares, on the same lines")
    func bodies() throws {
        let text = adopted(person, "/src/Person.swift")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.first == "#sourceLocation(file: \"/src/Person.swift\", line: 1)")
        for (made, original) in zip(lines.dropFirst(), person.split(separator: "\n", omittingEmptySubsequences: false)) {
            // Attributes became spaces of the same length, and bodies came behind.
            #expect(made.count >= original.count && !made.contains("@objc("), "\(original)")
            let kept = original.replacing(/@objc\(.*?\)|@NSManaged/) { String(repeating: " ", count: $0.0.count) }
            let comment = kept.firstRange(of: "//")?.lowerBound ?? kept.endIndex
            #expect(made.hasPrefix(String(kept[..<comment]).trimmingSuffix()), "\(made)")
        }
        for line in [
            "    static let key1 = NSManagedObject.Attribute<Int16>(\"age\")",
            "               public var age: Int16 { get { self[ManagedKeys.key1] } set { self[ManagedKeys.key1] = newValue } } // years",
            "               func addToBooks(_ values: NSOrderedSet) { add(values, to: OrderedToMany<NSManagedObject>(\"books\")) }",
            "               func addToDogs(_ value: Person) { add(value, to: ToMany<NSManagedObject>(\"dogs\")) }",
            "               func addFriends(_ values: Set<Person>) { add(values, to: ToMany<Person>(\"friends\")) }",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test("compiles without warnings in Swift 6 mode, also where the main actor is the default", arguments: [false, true])
    func compiles(isMainActors: Bool) async throws {
        let folder = try TemporaryFolder()
        let word = isMainActors ? "nonisolated " : ""
        let source = person.replacing("extension Person", with: "\(word)extension Person")
        let sources = [
            try folder.write(adopted(source, "/src/Person.swift"), to: "Person+Adopted.swift"),
            try folder.write("import CoreData\n\(word)public class Person: NSManagedObject {}", to: "Class.swift"),
        ]
        let complaints = try await Compiler.complaints(about: sources, module: "Adopted", isMainActors: isMainActors)
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test("has bodies for the names that key-value coding has for changes of ordered relationships")
    func formerOrderedNames() {
        let text = adopted(
            """
            class List: NSManagedObject {
                @NSManaged var items: NSOrderedSet
                @NSManaged func insertObject(_ object: Item, inItemsAtIndex index: Int)
                @NSManaged func removeObjectFromItemsAtIndex(_ index: Int)
                @NSManaged func insertItems(_ values: [Item], atIndexes places: NSIndexSet)
                @NSManaged func removeItemsAtIndexes(_ places: IndexSet)
                @NSManaged func replaceObjectInItemsAtIndex(_ index: Int, withObject object: Item)
                @NSManaged func replaceItemsAtIndexes(_ places: IndexSet, withItems values: [Item])
            }
            """
        )
        let (any, items) = (#"OrderedToMany<NSManagedObject>("items")"#, #"OrderedToMany<Item>("items")"#)
        for call in [
            "insert(object, into: \(any), at: index)", "remove(at: index, from: \(any))", "insert(values, into: \(items), at: places)",
            "remove(at: places, from: \(any))", "replace(at: index, with: object, in: \(any))",
            "replace(at: places, with: values, in: \(items))",
        ] {
            #expect(text.contains("{ \(call) }"), "\(call) in \(text)")
        }
    }

    @Test("reads a set that is changed in place as one that tells the object")
    func liveSets() {
        let text = adopted(
            """
            class A: NSManagedObject {
                @NSManaged var steps: NSMutableOrderedSet?
                @NSManaged var tags: NSMutableSet
                @NSManaged func addToSteps(_ value: B)
            }
            """
        )
        #expect(text.contains("steps: NSMutableOrderedSet? { get { self.mutableOrderedSetValue(forKey: \"steps\") } set"))
        #expect(text.contains("tags: NSMutableSet { get { self.mutableSetValue(forKey: \"tags\") } set"))
        #expect(text.contains("add(value, to: OrderedToMany<NSManagedObject>(\"steps\"))"))
    }

    @Test("leaves comments and strings alone")
    func comments() throws {
        let source = """
            // @NSManaged var a: String?
            /* @objc /* @objc */ @NSManaged var b */
            let text = "@objc \\(call("@NSManaged var c: Int")) @objc" + #"@objc"# + \"\"\"
                @NSManaged "quoted"
                \"\"\"
            let (mark, other) = (/"/, #/ "@objc /#)
            #if canImport(UIKit)
            @objc let never = #keyPath(A.b)
            #elseif !os(Linux) || (os(macOS) && DEBUG)
            @objc let neither = 1
            #endif
            """
        #expect(adopted(source) == "#sourceLocation(file: \"A.swift\", line: 1)\n\(source)\n#sourceLocation()\n")
    }

    @Test(
        "is refused, with the line, where @NSManaged stands before something else",
        arguments: [
            ("@NSManaged var a", "The type of a is missing"), ("@NSManaged var a: ", "The type of a is missing"),
            ("@NSManaged let a: Int", "@NSManaged is for properties and methods of classes"),
            ("@NSManaged", "@NSManaged is for properties and methods of classes"),
            ("@NSManaged var a: Int, b: Int", "a is declared with others: give each an `@NSManaged var`"),
            ("@NSManaged var a, b: Int", "a is declared with others"),
            ("@NSManaged var a: Int = 5", "a has accessors or a value"),
            ("@NSManaged var a: Int { 5 }", "a has accessors or a value"),
            ("@NSManaged func count() -> Int", "Method count has a result"),
            ("@NSManaged func bark(_ loudly: Bool)", "Method bark is none of those"),
            ("@NSManaged var primitiveTags: NSMutableSet", "Primitive values are no NSMutableSet on Linux"),
            ("@NSManaged func addToA(_ a: [B", "A bracket is not closed"),
            ("@NSManaged var a: Set<Int>>", "A bracket is closed that was not opened"),
        ]
    )
    func refusal(source: String, reason: String) {
        let messages = AdoptedSources(of: [SourceFile(path: "A.swift", text: "class A {\n    \(source)\n}")]).messages
        #expect(messages.map(\.kind) == [.error] && messages[0].text.contains(reason), "\(messages)")
        #expect(messages[0].file == "A.swift" && messages[0].place?.line == 2)
    }

    // Every beginning of a file, and a file with any byte changed into one that matters.
    @Test("is made or refused whatever the file is")
    func hostile() {
        let bytes = Array(person.utf8)
        for count in stride(from: 0, to: bytes.count, by: 17) {
            // Any copy is right; that it comes back is the test.
            _ = adopted(String(decoding: bytes[..<count], as: UTF8.self))
            var damaged = bytes
            damaged[count] = Array("\"(@:>/\\\n".utf8)[count % 8]
            _ = adopted(String(decoding: damaged, as: UTF8.self))
        }
        for text in ["\"\\(", "{", "class A {", "#keyPath(", "#if !(", "@objc(", "extension A { override func a(", "@NSManaged var a: ["] {
            _ = adopted(String(repeating: text, count: 2_000))
        }
    }
}

/// The copy of a file that is alone.
func adopted(_ text: String, _ path: String = "A.swift") -> String {
    AdoptedSources(of: [SourceFile(path: path, text: text)]).copies[0].text
}

extension String {
    fileprivate func trimmingSuffix() -> String { String(reversed().drop { $0 == " " }.reversed()) }
}

private let person = """
    //  @NSManaged public var inComment: String?
    import Foundation
    import CoreData

    extension Person {

        @nonobjc public class func fetchRequest() -> NSFetchRequest<Person> {
            return NSFetchRequest<Person>(entityName: "Person")
        }

        @NSManaged public var name: String?
        @NSManaged public var age: Int16 // years
        @NSManaged public var born: Date?
        @NSManaged public var isKind: Bool
        @NSManaged public var height: NSDecimalNumber?
        @NSManaged public var count: NSNumber?
        @NSManaged public var last: NSDate?
        @NSManaged private(set) var colour: NSObject?
        @NSManaged dynamic var nick: String!
        @NSManaged public var since: TimeInterval
        @NSManaged public var `default`: UUID?
        @NSManaged
        public var home: URL?
        @NSManaged public var dogs: NSSet?
        @NSManaged public var friends: Set<Person>
        @NSManaged public var books: NSOrderedSet?
        @NSManaged public var owner: Person
        @NSManaged fileprivate var primitiveAge: Int16
        @NSManaged public var tags: [String: Any]?
    }

    // MARK: Generated accessors for dogs
    extension Person {

        @objc(addDogsObject:)
        @NSManaged func addToDogs(_ value: Person)

        @objc(addDogs:)
        @NSManaged public func addToDogs(_ values: NSSet)

        @objc(removeDogs:)
        @NSManaged public func removeFromDogs(_ values: NSSet)
        @NSManaged func addFriends(_ values: Set<Person>)
        @NSManaged func addFriendsObject(value: Person)

        @objc(insertObject:inBooksAtIndex:)
        @NSManaged public func insertIntoBooks(_ value: Person, at idx: Int)

        @objc(removeObjectFromBooksAtIndex:)
        @NSManaged public func removeFromBooks(at idx: Int)

        @objc(insertBooks:atIndexes:)
        @NSManaged public func insertIntoBooks(_ values: [Person], at indexes: NSIndexSet)

        @objc(removeBooksAtIndexes:)
        @NSManaged public func removeFromBooks(at indexes: NSIndexSet)

        @objc(replaceObjectInBooksAtIndex:withObject:)
        @NSManaged public func replaceBooks(at idx: Int, with value: Person)

        @objc(replaceBooksAtIndexes:withBooks:)
        @NSManaged public func replaceBooks(at indexes: NSIndexSet, with values: [Person])

        @objc(addBooks:)
        @NSManaged func addToBooks(_ values: NSOrderedSet)
    }

    extension Person : Identifiable {

    }
    """
