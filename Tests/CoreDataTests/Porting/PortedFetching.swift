import CoreData
import Foundation

/// Code as it comes from a Mac: it compiles as it is.
final class SongList: NSObject, NSFetchedResultsControllerDelegate {
    let controller: NSFetchedResultsController<Tag>

    init(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: "label",
            cacheName: nil
        )
        super.init()
        controller.delegate = self
        try controller.performFetch()
        NSFetchedResultsController<Tag>.deleteCache(withName: nil)
    }

    func titles() -> [String] {
        let first = controller.object(at: IndexPath(row: 0, section: 0))
        return (controller.sections ?? []).map { "\($0.name) \($0.numberOfObjects)" } + [first.label ?? ""]
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {}

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        switch type {
        case .insert, .delete, .move, .update: break
        }
    }
}

func asynchronousFetch(_ context: NSManagedObjectContext) throws {
    let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Tag>(entityName: "Tag")) { result in
        print(result.finalResult?.count ?? 0, result.operationError ?? CocoaError(.coreData))
    }
    let running = try context.execute(request) as? NSPersistentStoreAsynchronousResult
    running?.cancel()
}
