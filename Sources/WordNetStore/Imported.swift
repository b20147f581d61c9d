import CoreData

/// The objects that were made of the rows of one kind, by their row's index: objects until they are saved, IDs from then on.
struct Imported<Object: NSManagedObject> {
    private let context: NSManagedObjectContext
    private var objects: [Object?]
    private var ids: [NSManagedObjectID?]
    /// The rows whose objects are not saved yet.
    private var unsaved: [Int32] = []

    init(count: Int, _ context: NSManagedObjectContext) {
        self.context = context
        objects = Array(repeating: nil, count: count)
        ids = Array(repeating: nil, count: count)
    }

    func contains(_ row: Int32) -> Bool { objects[Int(row)] != nil || ids[Int(row)] != nil }

    mutating func add(_ object: Object, for row: Int32) {
        objects[Int(row)] = object
        unsaved.append(row)
    }

    /// The object of a row: the one that was added or, once its ID is kept, one that the context has or makes of it.
    ///
    /// - Precondition: the row has been imported.
    subscript(row: Int32) -> Object {
        if let object = objects[Int(row)] { return object }
        guard let id = ids[Int(row)], let object = context.object(with: id) as? Object else {
            preconditionFailure("\(Object.self) \(row) is used before it is imported.")
        }
        return object
    }

    /// Lets go of the objects, which have been saved, so that their IDs are permanent.
    mutating func keepIDs() {
        for row in unsaved {
            ids[Int(row)] = objects[Int(row)]?.objectID
            objects[Int(row)] = nil
        }
        unsaved.removeAll(keepingCapacity: true)
    }
}
