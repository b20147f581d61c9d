import CBaseline
import CoreData
import Foundation

final class Shelf: NSManagedObject {
    static let nameKey = Attribute<String>("name")
    static let booksKey = ToMany<ShelfBook>("books")

    /// As a generated class has it.
    var books: RelatedSet<ShelfBook> {
        get { self[Shelf.booksKey] }
        _modify { yield &self[Shelf.booksKey] }
    }

    /// Entities, as they are saved: 10 books on each shelf.
    static func model() -> NSManagedObjectModel {
        Shelf.register()
        ShelfBook.register()
        let (shelf, book) = (NSEntityDescription(), NSEntityDescription())
        (shelf.name, shelf.managedObjectClassName) = ("Shelf", NSStringFromClass(Shelf.self))
        (book.name, book.managedObjectClassName) = ("ShelfBook", NSStringFromClass(ShelfBook.self))
        let (name, pages) = (NSAttributeDescription(), NSAttributeDescription())
        (name.name, name.attributeType, name.defaultValue) = ("name", .stringAttributeType, "")
        (pages.name, pages.attributeType, pages.defaultValue) = ("pages", .integer64AttributeType, 0)
        let (books, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (books.name, books.destinationEntity, books.inverseRelationship, books.maxCount) = ("books", book, owner, 0)
        (owner.name, owner.destinationEntity, owner.inverseRelationship, owner.maxCount) = ("shelf", shelf, books, 1)
        shelf.properties = [name, books]
        book.properties = [pages, owner]
        let model = NSManagedObjectModel()
        model.entities = [shelf, book]
        return model
    }
}

final class ShelfBook: NSManagedObject {
    static let pagesKey = Attribute<Int64>("pages")
    static let shelfKey = ToOne<Shelf>("shelf")
}

/// What is asked of 10,000 shelves with 100,000 books.
enum ShelfQuestion {
    case join, subqueryCount, prefetch

    /// Nil for what is more than a statement.
    var statement: String? {
        switch self {
        case .join:
            "SELECT b.ZPAGES FROM ZSHELFBOOK b JOIN ZSHELF s ON s.Z_PK = b.ZSHELF WHERE s.ZNAME >= 'Shelf 1' AND s.ZNAME < 'Shelf 2'"
        case .subqueryCount:
            """
            SELECT s.ZNAME FROM ZSHELF s
            WHERE (SELECT COUNT(*) FROM ZSHELFBOOK b WHERE b.ZSHELF = s.Z_PK AND b.ZPAGES > 500) >= 5
            """
        case .prefetch: nil
        }
    }

    func answer(_ context: NSManagedObjectContext) throws -> baseline_answer {
        var answer = baseline_answer()
        switch self {
        case .join:
            let request = NSFetchRequest<ShelfBook>(entityName: "ShelfBook")
            request.predicate = NSPredicate(format: "shelf.name BEGINSWITH %@", "Shelf 1")
            for book in try context.fetch(request) { answer.add(text: nil, integer: book[ShelfBook.pagesKey]) }
        case .subqueryCount:
            let request = NSFetchRequest<Shelf>(entityName: "Shelf")
            request.predicate = NSPredicate(format: "SUBQUERY(books, $b, $b.pages > 500).@count >= 5")
            for shelf in try context.fetch(request) { answer.add(text: shelf[Shelf.nameKey], integer: 0) }
        case .prefetch:
            let request = NSFetchRequest<Shelf>(entityName: "Shelf")
            request.relationshipKeyPathsForPrefetching = ["books"]
            for shelf in try context.fetch(request) {
                answer.add(text: shelf[Shelf.nameKey], integer: 0)
                for book in shelf.books { answer.add(text: nil, integer: book[ShelfBook.pagesKey]) }
            }
        }
        return answer
    }
}

extension Bench {
    func ask(_ question: ShelfQuestion, _ side: any Side) throws -> Double {
        let url = try shelves(count: workload.songs.count / 50)
        let (seconds, answer) = try side is RawSide ? askInC(question, url) : withContext(url, Shelf.model(), question.answer)
        return try checked(seconds, answer, side, "\(question)") { try askInC(question, url).1 }
    }

    private func askInC(_ question: ShelfQuestion, _ url: URL) throws -> (Double, baseline_answer) {
        if let statement = question.statement { return try askInC(statement, url) }
        return try withConnection(url) { connection in
            var answer = baseline_answer()
            let seconds = try cpuSeconds { try SQLiteFailure.check(baseline_read_shelves(connection, &answer), "read shelves") }.seconds
            return (seconds, answer)
        }
    }

    /// So many shelves, of 10 books each.
    func shelves(count: Int) throws -> URL {
        try madeOnce("shelves-\(count).sqlite") { url in
            _ = try withContext(url, Shelf.model()) { context in
                for number in 0..<count {
                    let shelf = Shelf(context: context)
                    shelf[Shelf.nameKey] = "Shelf \(number)"
                    for place in 0..<10 {
                        let book = ShelfBook(context: context)
                        book[ShelfBook.pagesKey] = Int64((number * 7919 + place * 104_729) % 1000)
                        book[ShelfBook.shelfKey] = shelf
                    }
                }
                try context.save()
            }
        }
    }
}
