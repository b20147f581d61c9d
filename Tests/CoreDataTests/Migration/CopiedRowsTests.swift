import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import CoreData

/// Does what the base class does; notes how many objects it was asked for, and how many statements there were at the end.
class CountingPolicy: NSEntityMigrationPolicy {
    private var count = 0

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject,
        in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        count += 1
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let stores = [manager.sourceContext, manager.destinationContext].compactMap {
            $0.persistentStoreCoordinator?.persistentStores.first
        }
        let statements = stores.compactMap { ($0 as? SQLiteStore)?.counter.count }.reduce(0, +)
        manager.userInfo = ["count": count, "statements": statements]
    }
}

/// Leaves what its objects lead to for others to say.
final class CountingAlonePolicy: CountingPolicy {
    override func createRelationships(
        forDestination dInstance: NSManagedObject,
        in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {}
}

/// Deletes the first book of all when books are there, and looks from both sides at what became of the others.
final class LookingPolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let books = manager.destinationInstances(forEntityMappingName: "IEM_Transform_Book", sourceInstances: nil)
        let sources = manager.sourceInstances(forEntityMappingName: "IEM_Transform_Book", destinationInstances: books)
        let again = manager.destinationInstances(forEntityMappingName: "IEM_Transform_Book", sourceInstances: sources)
        let names = [books, sources, again].map { $0.compactMap { $0.value(forKey: "n") as? String } }
        manager.userInfo = ["isSame": names[0] == names[1] && names[1] == names[2], "count": books.count]
        if let first = books.first { manager.destinationContext.delete(first) }
    }
}

/// Makes a second book of the first author's for a book of the source, and says so to the mapping of books, whose turn comes later.
final class AssociatingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject,
        in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard sInstance.value(forKey: "n") as? String == "Author0" else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "n == 'Book8'")
        let extra = NSEntityDescription.insertNewObject(forEntityName: "Book", into: manager.destinationContext)
        extra.setValue("Extra", forKey: "n")
        guard let books = manager.mappingModel.entityMappings.first(where: { $0.sourceEntityName == "Book" }),
            let book = try manager.sourceContext.fetch(request).first
        else { return }
        manager.associate(sourceInstance: book, withDestinationInstance: extra, for: books)
    }
}

@Suite("Entities that are only copied")
struct CopiedRowsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        CountingPolicy.register()
        CountingAlonePolicy.register()
        LookingPolicy.register()
        AssociatingPolicy.register()
    }

    /// Every kind of relationship between authors, books, novels, shelves and tags.
    private func model(_ isNew: Bool) -> NSManagedObjectModel {
        let year = attribute("year", .integer32)
        year.isOptional = false
        let name = attribute(isNew ? "title" : "name")
        name.renamingIdentifier = "name"
        let note = attribute("note")
        note.defaultValue = "none"
        year.defaultValue = 7
        let author = NSEntityDescription("Author", attribute("n"), attribute("age", .integer32))
        let book = NSEntityDescription("Book", attribute("n"), name, year)
        if isNew { book.properties.append(note) }
        let novel = NSEntityDescription("Novel", attribute("plot", .date))
        book.subentities = [novel]
        let shelf = NSEntityDescription("Shelf", attribute("n"))
        let tag = NSEntityDescription("Tag", attribute("n"))
        pair(author.relate("books", to: book, many: true), book.relate("author", to: author))
        pair(shelf.relate("books", to: book, many: true, ordered: true), book.relate("shelf", to: shelf))
        pair(book.relate("tags", to: tag, many: true, ordered: true), tag.relate("books", to: book, many: true))
        pair(author.relate("likes", to: tag, many: true, ordered: true), tag.relate("likers", to: author, many: true, ordered: true))
        _ = book.relate("sequel", to: book)
        _ = author.relate("drafts", to: book, many: true)
        let related = tag.relate("related", to: tag, many: true)
        related.inverseRelationship = related
        return NSManagedObjectModel(author, book, novel, shelf, tag)
    }

    private func pair(_ left: NSRelationshipDescription, _ right: NSRelationshipDescription) {
        (left.inverseRelationship, right.inverseRelationship) = (right, left)
    }

    private func fill(books: Int) throws {
        let stack = try Stack(folder.file("Old.sqlite"), model(false))
        let context = stack.newContext()
        func make(_ entity: String, _ count: Int) -> [NSManagedObject] {
            (0..<count).map { number in
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue("\(entity)\(number)", forKey: "n")
                return object
            }
        }
        let (authors, shelves, tags) = (make("Author", 4), make("Shelf", 3), make("Tag", 5))
        let all = make("Book", books) + make("Novel", books / 2)
        for (number, book) in all.enumerated() {
            book.setValue(number % 3 == 0 ? nil : "name \(number)", forKey: "name")
            book.setValue(1900 + number, forKey: "year")
            if number % 5 != 0 { book.setValue(authors[number % 4], forKey: "author") }
            if number % 2 == 0 { book.setValue(all[(number * 7 + 3) % all.count], forKey: "sequel") }
            book.setValue(NSOrderedSet(array: [4, 1, 3].map { tags[($0 + number) % 5] }), forKey: "tags")
        }
        for (number, shelf) in shelves.enumerated() {
            shelf.setValue(
                NSOrderedSet(array: all.enumerated().filter { $0.offset % 4 == number }.map(\.element).reversed()),
                forKey: "books"
            )
        }
        for (number, author) in authors.enumerated() {
            author.setValue(Set(all.enumerated().filter { $0.offset % 6 == number }.map(\.element)), forKey: "drafts")
            author.setValue(NSOrderedSet(array: [2, 0, 3].map { tags[($0 + number) % 5] }), forKey: "likes")
        }
        tags[0].setValue(Set([tags[0], tags[3]]), forKey: "related")
        try context.save()
        try stack.close()
    }

    private func mapping(_ policies: [String: NSEntityMigrationPolicy.Type]) throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(false), destinationModel: model(true))
        for entity in mapping.entityMappings {
            guard let policy = policies[entity.sourceEntityName ?? ""] else { continue }
            entity.entityMigrationPolicyClassName = NSStringFromClass(policy)
        }
        let author = mapping.entityMappings.first { $0.sourceEntityName == "Author" }
        author?.attributeMappings?.first { $0.name == "age" }?.valueExpression = NSExpression(format: "7")
        return mapping
    }

    @discardableResult
    private func migrate(_ mapping: NSMappingModel, to name: String, bySQL: Bool = true) throws -> [AnyHashable: Any] {
        let manager = NSMigrationManager(sourceModel: model(false), destinationModel: model(true))
        manager.usesStoreSpecificMigrationManager = bySQL
        let (old, new) = (folder.file("Old.sqlite"), folder.file(name))
        try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
        #expect(try StoreInspector(url: new).problems() == [])
        return manager.userInfo ?? [:]
    }

    /// Everything in a store, a line for each object.
    private func contents(_ name: String) throws -> [String] {
        func text(_ value: Any?) -> String {
            func name(_ object: Any) -> String { (object as? NSManagedObject)?.value(forKey: "n") as? String ?? "?" }
            switch value {
            case let set as NSOrderedSet: return "\(set.array.map(name))"
            case let set as NSSet: return "\(set.allObjects.map(name).sorted())"
            case let object as NSManagedObject: return name(object)
            default: return value.map { "\($0)" } ?? "-"
            }
        }
        let stack = try Stack(folder.file(name), model(true))
        let context = stack.newContext()
        let lines = try ["Author", "Book", "Shelf", "Tag"].flatMap { entity in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                let values = object.entity.propertiesByName.keys.sorted().map { "\($0) \(text(object.value(forKey: $0)))" }
                return "\(object.entity.name ?? "") " + values.joined(separator: ", ")
            }
        }
        try stack.close()
        return lines.sorted()
    }

    // * Each entity in turn has a policy, or none has: the others go as rows.
    // => Every value, relationship and order is that of a migration in which all go object by object.
    @Test("become what they become object by object", arguments: [nil, "Author", "Book", "Novel", "Shelf", "Tag"])
    func same(policy: String?) throws {
        try fill(books: 24)
        let mapping = try mapping(policy.map { [$0: CountingPolicy.self] } ?? [:])
        try migrate(mapping, to: "Rows.sqlite")
        try migrate(mapping, to: "Objects.sqlite", bySQL: false)
        let lines = try contents("Objects.sqlite")
        #expect(lines.count == 48 && lines.contains { $0.contains("note none") && $0.contains("title name") })
        #expect(try contents("Rows.sqlite") == lines)
    }

    // * Authors have a policy, and there are ten times as many books.
    // => The policy is asked for the authors alone, and there are as many statements as before.
    @Test("take as many statements, however many objects there are")
    func statements() throws {
        let notes = try [40, 400].map { books in
            try? FileManager.default.removeItem(at: folder.file("Old.sqlite"))
            try fill(books: books)
            return try migrate(mapping(["Author": CountingAlonePolicy.self]), to: "\(books).sqlite")
        }
        #expect(notes[0]["statements"] as? Int == notes[1]["statements"] as? Int)
        let counts = notes.map { $0["count"] as? Int }
        #expect(counts == [4, 4])
    }

    @Test("are found by what policies ask for, and not where a policy has deleted them")
    func asked() throws {
        try fill(books: 24)
        let notes = try migrate(mapping(["Shelf": LookingPolicy.self]), to: "New.sqlite")
        #expect(notes["isSame"] as? Bool == true && notes["count"] as? Int == 24)
        let lines = try contents("New.sqlite")
        let ends = lines.filter { $0.contains("Book0,") || $0.contains("\"Book0\"") || $0.hasSuffix("Book0") }
        #expect(ends == [] && lines.count == 47)
    }

    // * A policy makes a book of a book before the books are copied; shelves and tags, which are copied too, lead to books.
    // => It is among the books of the shelf and the tags, as object by object.
    @Test("are led to, and so is what a policy has made of some of them before")
    func associatedBefore() throws {
        try fill(books: 24)
        let mapping = try mapping(["Author": AssociatingPolicy.self])
        try migrate(mapping, to: "Rows.sqlite")
        try migrate(mapping, to: "Objects.sqlite", bySQL: false)
        let lines = try contents("Objects.sqlite")
        #expect(lines.contains { $0.hasPrefix("Shelf") && $0.contains("Extra") })
        #expect(try contents("Rows.sqlite") == lines)
    }

    @Test("are refused where they are not valid, with the reason that objects have")
    func invalid() throws {
        try fill(books: 24)
        let connection = try Connection(path: folder.file("Old.sqlite").path, mode: .readWrite)
        try connection.execute("UPDATE ZBOOK SET ZYEAR = NULL WHERE Z_PK = 5")
        connection.close()
        for bySQL in [true, false] {
            let error = cocoaError(134110) { try migrate(mapping([:]), to: "New.sqlite", bySQL: bySQL) }
            #expect(error?.userInfo["entity"] as? String == "Book" && error?.userInfo["property"] as? String == "year")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("New.sqlite").path))
    }
}
