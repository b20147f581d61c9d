import Foundation

@testable import CoreData

/// Holds what a context has of the notes.
// Sendable: used on the context's queue only.
final class NoteList: NSObject, NSFetchedResultsControllerDelegate, @unchecked Sendable {
    private let controller: NSFetchedResultsController<Note>
    var texts: [String] { controller.fetchedObjects?.compactMap(\.text) ?? [] }
    var areOfContext: Bool {
        controller.fetchedObjects?.allSatisfy { $0.managedObjectContext === controller.managedObjectContext } ?? false
    }

    init(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<Note>()
        request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: nil,
            cacheName: nil
        )
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    // A controller follows its context for a delegate only.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
}
