import Foundation

@testable import CoreData

/// Holds what a context has of an entity's objects, by one of their texts.
// Sendable: used on the context's queue only.
final class FetchedList<Object: NSManagedObject>: NSObject, NSFetchedResultsControllerDelegate, @unchecked Sendable {
    private let controller: NSFetchedResultsController<Object>
    private let key: String
    var objects: [Object] { controller.fetchedObjects ?? [] }
    var texts: [String] { objects.compactMap { $0.value(forKey: key) as? String } }
    var areOfContext: Bool {
        controller.fetchedObjects?.allSatisfy { $0.managedObjectContext === controller.managedObjectContext } ?? false
    }

    init(_ context: NSManagedObjectContext, by key: String, where format: String? = nil) throws {
        let request = NSFetchRequest<Object>()
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: nil,
            cacheName: nil
        )
        self.key = key
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    // A controller follows its context for a delegate only.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
}
