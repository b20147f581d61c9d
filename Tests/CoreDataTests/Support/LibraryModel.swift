import CoreData

/// A model with every kind of relationship that the engine knows:
///
/// ```
/// Person ◁─ Author          Author 1 ──▸▸ * Book (cascade; inverse nullify)
/// Book * ◂◂──▸▸ * Tag       Book 1 ──▸▸ ordered * Chapter (cascade, mandatory inverse)
/// Person 1 ◂──▸ 1 Desk      Person ──▸ 0..1 boss ◂◂ * reports (nullify)
/// ```
enum LibraryModel {
    static func make() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        let person = entity("Person", Person.self, [attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType)])
        let author = entity("Author", Author.self, [attribute("penName", .stringAttributeType)])
        let book = entity(
            "Book",
            Book.self,
            [
                attribute("title", .stringAttributeType, isOptional: false), attribute("pages", .integer32AttributeType),
                attribute("price", .doubleAttributeType), attribute("published", .dateAttributeType),
                attribute("isLent", .booleanAttributeType, default: false), attribute("cover", .binaryDataAttributeType),
                attribute("isbn", .UUIDAttributeType), attribute("copies", .integer64AttributeType),
                attribute("weight", .floatAttributeType),
            ]
        )
        let chapter = entity("Chapter", Chapter.self, [attribute("heading", .stringAttributeType)])
        let tag = entity("Tag", Tag.self, [attribute("label", .stringAttributeType)])
        let desk = entity("Desk", Desk.self, [attribute("room", .stringAttributeType)])
        person.subentities = [author]
        relate(author, "books", toMany: true, .cascadeDeleteRule, book, "author", toMany: false, .nullifyDeleteRule)
        relate(book, "tags", toMany: true, .nullifyDeleteRule, tag, "books", toMany: true, .nullifyDeleteRule)
        let chapters = relate(book, "chapters", toMany: true, .cascadeDeleteRule, chapter, "book", toMany: false, .nullifyDeleteRule)
        chapters.isOrdered = true
        chapters.inverseRelationship?.isOptional = false
        relate(person, "desk", toMany: false, .nullifyDeleteRule, desk, "owner", toMany: false, .denyDeleteRule)
        relate(person, "boss", toMany: false, .nullifyDeleteRule, person, "reports", toMany: true, .nullifyDeleteRule)
        model.entities = [person, author, book, chapter, tag, desk]
        return model
    }

    static func entity(_ name: String, _ objectClass: NSManagedObject.Type, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(objectClass)
        entity.properties = properties
        return entity
    }

    static func attribute(
        _ name: String,
        _ type: NSAttributeType,
        isOptional: Bool = true,
        default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = isOptional
        attribute.defaultValue = value
        return attribute
    }

    /// Makes a relationship and its inverse; the first is returned.
    @discardableResult
    static func relate(
        _ left: NSEntityDescription,
        _ name: String,
        toMany: Bool,
        _ rule: NSDeleteRule,
        _ right: NSEntityDescription,
        _ inverseName: String,
        toMany inverseToMany: Bool,
        _ inverseRule: NSDeleteRule
    ) -> NSRelationshipDescription {
        let (relationship, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
        (relationship.name, relationship.maxCount, relationship.deleteRule) = (name, toMany ? 0 : 1, rule)
        (inverse.name, inverse.maxCount, inverse.deleteRule) = (inverseName, inverseToMany ? 0 : 1, inverseRule)
        (relationship.destinationEntity, inverse.destinationEntity) = (right, left)
        (relationship.inverseRelationship, inverse.inverseRelationship) = (inverse, relationship)
        left.properties.append(relationship)
        right.properties.append(inverse)
        return relationship
    }
}

class Person: NSManagedObject {
    private enum Keys {
        static let name = Attribute<String?>("name")
        static let age = Attribute<Int16>("age")
        static let desk = ToOne<Desk>("desk")
        static let boss = ToOne<Person>("boss")
        static let reports = ToMany<Person>("reports")
    }
    var name: String? {
        get { self[Keys.name] }
        set { self[Keys.name] = newValue }
    }
    var age: Int16 {
        get { self[Keys.age] }
        set { self[Keys.age] = newValue }
    }
    var desk: Desk? {
        get { self[Keys.desk] }
        set { self[Keys.desk] = newValue }
    }
    var boss: Person? {
        get { self[Keys.boss] }
        set { self[Keys.boss] = newValue }
    }
    var reports: Set<Person> {
        get { self[Keys.reports] }
        set { self[Keys.reports] = newValue }
    }
}

final class Author: Person {
    private enum Keys {
        static let penName = Attribute<String?>("penName")
        static let books = ToMany<Book>("books")
    }
    var penName: String? {
        get { self[Keys.penName] }
        set { self[Keys.penName] = newValue }
    }
    var books: Set<Book> {
        get { self[Keys.books] }
        set { self[Keys.books] = newValue }
    }
    func addToBooks(_ book: Book) { add(book, to: Keys.books) }
    func removeFromBooks(_ book: Book) { remove(book, from: Keys.books) }
}

final class Book: NSManagedObject {
    enum Keys {
        static let title = Attribute<String?>("title")
        static let pages = Attribute<Int32>("pages")
        static let price = Attribute<Double?>("price")
        static let published = Attribute<Date?>("published")
        static let isLent = Attribute<Bool>("isLent")
        static let cover = Attribute<Data?>("cover")
        static let isbn = Attribute<UUID?>("isbn")
        static let copies = Attribute<Int64?>("copies")
        static let weight = Attribute<Float>("weight")
        static let author = ToOne<Author>("author")
        static let tags = ToMany<Tag>("tags")
        static let chapters = OrderedToMany<Chapter>("chapters")
    }
    var title: String? {
        get { self[Keys.title] }
        set { self[Keys.title] = newValue }
    }
    var pages: Int32 {
        get { self[Keys.pages] }
        set { self[Keys.pages] = newValue }
    }
    var price: Double? {
        get { self[Keys.price] }
        set { self[Keys.price] = newValue }
    }
    var published: Date? {
        get { self[Keys.published] }
        set { self[Keys.published] = newValue }
    }
    var isLent: Bool {
        get { self[Keys.isLent] }
        set { self[Keys.isLent] = newValue }
    }
    var cover: Data? {
        get { self[Keys.cover] }
        set { self[Keys.cover] = newValue }
    }
    var isbn: UUID? {
        get { self[Keys.isbn] }
        set { self[Keys.isbn] = newValue }
    }
    var copies: Int64? {
        get { self[Keys.copies] }
        set { self[Keys.copies] = newValue }
    }
    var weight: Float {
        get { self[Keys.weight] }
        set { self[Keys.weight] = newValue }
    }
    var author: Author? {
        get { self[Keys.author] }
        set { self[Keys.author] = newValue }
    }
    var tags: Set<Tag> {
        get { self[Keys.tags] }
        set { self[Keys.tags] = newValue }
    }
    var chapters: [Chapter] {
        get { self[Keys.chapters] }
        set { self[Keys.chapters] = newValue }
    }
}

final class Chapter: NSManagedObject {
    private enum Keys {
        static let heading = Attribute<String?>("heading")
        static let book = ToOne<Book>("book")
    }
    var heading: String? {
        get { self[Keys.heading] }
        set { self[Keys.heading] = newValue }
    }
    var book: Book? {
        get { self[Keys.book] }
        set { self[Keys.book] = newValue }
    }
}

final class Tag: NSManagedObject {
    private enum Keys {
        static let label = Attribute<String?>("label")
        static let books = ToMany<Book>("books")
    }
    var label: String? {
        get { self[Keys.label] }
        set { self[Keys.label] = newValue }
    }
    var books: Set<Book> {
        get { self[Keys.books] }
        set { self[Keys.books] = newValue }
    }
}

final class Desk: NSManagedObject {
    private enum Keys {
        static let room = Attribute<String?>("room")
        static let owner = ToOne<Person>("owner")
    }
    var room: String? {
        get { self[Keys.room] }
        set { self[Keys.room] = newValue }
    }
    var owner: Person? {
        get { self[Keys.owner] }
        set { self[Keys.owner] = newValue }
    }
}
