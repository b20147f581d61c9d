import CoreData
import Testing

/// A library with two contexts on one coordinator: what one saves, the other does not know yet.
struct TwoContexts {
    let library: Library
    let context: NSManagedObjectContext
    let other: NSManagedObjectContext

    init() throws {
        library = try Library()
        (context, other) = (library.context, library.newContext())
    }
}

/// A suite that uses one.
protocol TwoContextSuite {
    var contexts: TwoContexts { get }
}

extension TwoContextSuite {
    var library: Library { contexts.library }
    var context: NSManagedObjectContext { contexts.context }
    var other: NSManagedObjectContext { contexts.other }

    /// Merges what the other context, or anybody, has saved of objects.
    func merge(_ objects: NSManagedObject..., under key: String = NSUpdatedObjectsKey) {
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: objects.map(\.objectID)], into: [context])
    }

    /// Deletes an object elsewhere and merges that here.
    func deleteElsewhere(_ object: NSManagedObject) throws {
        other.delete(other.own(object))
        try other.save()
        merge(object, under: NSDeletedObjectsKey)
    }
}
