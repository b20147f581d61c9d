import Foundation
import Testing

@testable import CoreData

@Suite("An explanation of a fetch")
struct ExplainingTests {
    let stage: Stage

    init() throws {
        stage = try Stage {
            let person = LibraryModel.entity(
                "Person",
                NSManagedObject.self,
                [
                    LibraryModel.attribute("name", .stringAttributeType), LibraryModel.attribute("age", .integer32AttributeType),
                    LibraryModel.attribute("note", .stringAttributeType),
                ]
            )
            let shown = LibraryModel.attribute("shown", .stringAttributeType)
            shown.isTransient = true
            person.properties.append(shown)
            LibraryModel.relate(person, "boss", toMany: false, .nullifyDeleteRule, person, "reports", toMany: true, .nullifyDeleteRule)
            let properties = Dictionary(uniqueKeysWithValues: person.properties.map { ($0.name, $0) })
            person.indexes = ["name", "age"].map { key in
                // Both are among the entity's attributes.
                let element = NSFetchIndexElementDescription(property: properties[key]!, collationType: .binary)
                return NSFetchIndexDescription(name: "by_\(key)", elements: [element])
            }
            return [person]
        }
        // Tables are made by the first save.
        _ = person("first", 1)
        try stage.context.save()
    }

    private func person(_ name: String, _ age: Int) -> NSManagedObject {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: stage.context)
        person.setValue(name, forKey: "name")
        person.setValue(age, forKey: "age")
        return person
    }

    private func request(_ format: String, sort: [String] = []) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    @Test("says the statement, its arguments, SQLite's plan, and that nothing is left to memory; and prints as a table")
    func statement() throws {
        let explanation = try stage.context.explain(request("name == \"O'Neil\" AND age > 3"))
        let statement = try #require(explanation.statements.first)
        #expect(explanation.statements.count == 1 && explanation.inMemory.isEmpty)
        #expect(statement.sql.hasPrefix("SELECT") && statement.arguments == ["'O''Neil'", "3"] && statement.store == stage.url.path)
        let lines = explanation.description.split(separator: "\n")
        #expect(lines.map { $0.prefix(9).trimmingCharacters(in: .whitespaces) } == ["store", "sql", "arguments", "", "plan", "in memory"])
        #expect(lines.last?.hasSuffix("nothing") == true)
    }

    @Test(
        "shows that equality, ranges, sorts and relationships use the indexes that there are",
        arguments: [
            ("name == 'a'", [], "(ZNAME=?)"), ("age > 3 AND age <= 7", [], "(ZAGE>? AND ZAGE<?)"),
            ("TRUEPREDICATE", ["name"], "USING INDEX"), ("reports.@count > 1", [], "USING COVERING INDEX"),
            ("name BEGINSWITH 'a'", [], "(ZNAME>? AND ZNAME<?)"),
            ("name BEGINSWITH 'a'", ["name"], "(ZNAME>? AND ZNAME<?)"), ("age BETWEEN {3, 7}", ["age"], "(ZAGE>? AND ZAGE<?)"),
            ("age IN {1, 2, 3}", [], "(ZAGE=?)"),
            ("ANY reports.age == 3", [], "(ZAGE=?)"), ("boss.name == 'a'", [], "(ZNAME=?)"),
        ] as [(String, [String], String)]
    )
    func indexes(_ format: String, _ sort: [String], _ use: String) throws {
        let plan = try stage.context.explain(request(format, sort: sort)).statements[0].plan.joined(separator: "\n")
        #expect(plan.contains(use), "\(plan)")
        #expect(!plan.contains("USE TEMP B-TREE FOR ORDER BY"))
    }

    // * As many names as nobody writes down, and one of them.
    // => A fetch searches the index for each, and is one statement; the same text for another name, so that it is prepared once.
    @Test("shows an index for a list of 100,000 values; one object by a key is one statement, the same for each value")
    func lists() throws {
        let list = NSFetchRequest<NSManagedObject>(entityName: "Person")
        list.predicate = NSPredicate(format: "name IN %@", (0..<100_000).map { "name \($0)" } + ["first"])
        #expect(try stage.context.explain(list).statements[0].plan.contains { $0.contains("(ZNAME=?)") })
        #expect(try stage.context.fetch(list).count == 1)
        let store = try #require(stage.context.persistentStoreCoordinator?.persistentStores[0] as? SQLiteStore)
        let context = try #require(stage.context.persistentStoreCoordinator).newContext()
        let statements = try store.counter.recording {
            for name in ["first", "second", "first"] { _ = try context.fetch(request("name == '\(name)'")) }
        }
        #expect(statements.count == 3 && Set(statements).count == 1, "\(statements)")
    }

    @Test("says what is left to memory, and why")
    func memory() throws {
        let context = stage.context
        let block = request("age > 3")
        let parts = [NSPredicate(format: "age > 3"), NSPredicate { _, _ in true }]
        block.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        block.fetchLimit = 5
        let explanation = try context.explain(block)
        #expect(explanation.statements[0].arguments == ["3"])
        #expect(explanation.inMemory.count == 2 && explanation.inMemory[0].contains("only the program can evaluate it"))
        #expect(try context.explain(request("shown == 'x'")).inMemory[0].contains("“shown” is transient"))
        let sorted = request("TRUEPREDICATE")
        sorted.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true) { _, _ in .orderedSame }]
        #expect(try context.explain(sorted).inMemory[0].contains("comparator"))
        // * Unsaved changes.
        for number in 0..<20 { _ = person("new", number) }
        let (range, value) = (try context.explain(request("age >= 10 AND age < 12")), try context.explain(request("age == 10")))
        #expect(range.inMemory == ["20 objects with unsaved changes: tested one by one, and put among the results"])
        #expect(value.inMemory == ["1 object with unsaved changes: found by their value, and put among the results"])
    }

    @Test("is given for counts, IDs and dictionaries, and fetches nothing")
    func forms() throws {
        let context = try stage.separateContext()
        let request = request("age == 1")
        request.resultType = .countResultType
        #expect(try context.explain(request).statements[0].sql.hasPrefix("SELECT COUNT(*)"))
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        #expect(try context.explain(request).statements[0].sql.contains("ZNAME"))
        #expect(context.registeredObjects.isEmpty)
        #expect(throws: CocoaError.self) { try context.explain(self.request("nothing == 1")) }
    }
}

extension NSPersistentStoreCoordinator {
    fileprivate func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = self
        return context
    }
}
