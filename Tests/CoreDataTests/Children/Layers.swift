import Foundation

@testable import CoreData

/// Root on a library's coordinator, main as its child, and workers as children of main.
struct Layers {
    let library: Library
    let root: NSManagedObjectContext
    let main: NSManagedObjectContext
    let worker: NSManagedObjectContext

    init(_ library: Library) {
        self.library = library
        root = library.context
        root.name = "root"
        main = Self.child(of: root, "main")
        worker = Self.child(of: main, "worker")
    }

    init() throws { self.init(try Library()) }

    static func child(
        of parent: NSManagedObjectContext,
        _ name: String,
        _ type: NSManagedObjectContextConcurrencyType = .confinementConcurrencyType
    ) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: type)
        child.parent = parent
        child.name = name
        return child
    }

    func newWorker() -> NSManagedObjectContext { Self.child(of: main, "worker") }

    func book(_ title: String, in context: NSManagedObjectContext) -> Book {
        let book = Book(context: context)
        book.title = title
        return book
    }

    /// Saves from the worker to the file.
    func saveAll() throws {
        try worker.save()
        try main.save()
        try root.save()
    }
}

extension NSManagedObjectContext {
    func all<Object: NSManagedObject>(
        _ type: Object.Type,
        where format: String? = nil,
        _ arguments: [Any?] = [],
        sortedBy key: String? = nil
    ) throws
        -> [Object]
    {
        let request = NSFetchRequest<Object>()
        request.predicate = try format.map { try NSPredicate(parsing: $0, arguments: arguments) }
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }

    func one<Object: NSManagedObject>(_ type: Object.Type, where format: String? = nil, _ arguments: [Any?] = []) throws -> Object? {
        let found = try all(type, where: format, arguments)
        return found.count == 1 ? found[0] : nil
    }

    /// This context's form of an object of any other.
    func own<Object: NSManagedObject>(_ object: Object) -> Object { unsafeDowncast(self.object(with: object.objectID), to: Object.self) }
}
