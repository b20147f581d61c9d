import Foundation

@testable import CoreData

/// A model with a derived attribute of each form.
enum DerivedShelf {
    static func make(_ change: ([String: NSEntityDescription]) -> Void = { _ in }) -> NSManagedObjectModel {
        let country = NSEntityDescription("Country", attribute("name"))
        let author = NSEntityDescription("Author", attribute("name"))
        let page = NSEntityDescription("Page", attribute("words", .integer32), attribute("weight", .double))
        let tag = NSEntityDescription("Tag", attribute("points", .integer16))
        let thing = NSEntityDescription("Thing")
        let book = NSEntityDescription("Book", attribute("title"))
        thing.subentities = [book, NSEntityDescription("Box")]
        link(author, "country", country, "authors")
        link(book, "author", author, "books")
        link(page, "book", book, "pages")
        link(book, "part", book, "parts")
        book.relate("tags", to: tag, many: true, inverse: tag.relate("books", to: book, many: true))
        let friends = book.relate("friends", to: book, many: true)
        friends.inverseRelationship = friends
        book.properties += derivations.map { derived($0, $1, $2) }
        let entities = [country, author, page, tag, thing, book, thing.subentities[1]]
        for entity in entities { for property in entity.properties { property.isOptional = true } }
        change(Dictionary(uniqueKeysWithValues: entities.map { ($0.name ?? "", $0) }))
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    static let derivations: [(String, String, NSAttributeDescription.AttributeType)] = [
        ("pageCount", "pages.@count", .integer64), ("wordCount", "pages.words.@sum", .integer64), ("weight", "pages.@sum.weight", .double),
        ("copy", "title", .string), ("search", "canonical:(title)", .string), ("upper", "uppercase:(title)", .string),
        ("lower", "lowercase:(title)", .string), ("authorName", "author.name", .string), ("country", "author.country.name", .string),
        ("shout", "uppercase:(author.name)", .string), ("whole", "part.title", .string), ("partCount", "parts.@count", .integer16),
        ("tagCount", "tags.@count", .integer32), ("tagPoints", "tags.points.@sum", .integer64),
        ("friendCount", "friends.@count", .integer64),
        ("saved", "now()", .date),
    ]

    static func derived(_ name: String, _ expression: String, _ type: NSAttributeDescription.AttributeType) -> NSDerivedAttributeDescription
    {
        let attribute = NSDerivedAttributeDescription()
        (attribute.name, attribute.type, attribute.isOptional) = (name, type, true)
        attribute.derivationExpression = NSExpression(format: expression)
        return attribute
    }

    @discardableResult
    static func new(_ name: String, _ context: NSManagedObjectContext, _ values: [String: Any?] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    static func books(_ context: NSManagedObjectContext, _ predicate: NSPredicate? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request)
    }

    private static func link(_ owner: NSEntityDescription, _ one: String, _ target: NSEntityDescription, _ many: String) {
        target.relate(many, to: owner, many: true, inverse: owner.relate(one, to: target))
    }

    /// What the derived attributes of a book are to be, from its other values: a line for each.
    static func expected(_ book: NSManagedObject) -> [String: String] {
        func objects(_ key: String) -> [NSManagedObject] { Array(book.value(forKey: key) as? Set<NSManagedObject> ?? []) }
        func text(_ path: String) -> String? { book.value(forKeyPath: path) as? String }
        func sum(_ key: String, _ attribute: String) -> Int { objects(key).reduce(0) { $0 + ($1.value(forKey: attribute) as? Int ?? 0) } }
        let (pages, title) = (objects("pages"), text("title"))
        let values: [String: Any?] = [
            "pageCount": pages.count, "wordCount": sum("pages", "words"), "tagPoints": sum("tags", "points"),
            "weight": pages.reduce(0.0) { $0 + ($1.value(forKey: "weight") as? Double ?? 0) }, "copy": title, "upper": title?.uppercased(),
            "lower": title?.lowercased(), "search": title?.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil),
            "authorName": text("author.name"), "country": text("author.country.name"), "shout": text("author.name")?.uppercased(),
            "whole": text("part.title"), "partCount": objects("parts").count, "tagCount": objects("tags").count,
            "friendCount": objects("friends").count,
        ]
        return values.mapValues { $0.map { "\($0)" } ?? "nil" }
    }

    /// What they are.
    static func found(_ book: NSManagedObject) -> [String: String] {
        let names = derivations.map(\.0).filter { $0 != "saved" }
        return Dictionary(uniqueKeysWithValues: names.map { ($0, book.value(forKey: $0).map { "\($0)" } ?? "nil") })
    }
}
