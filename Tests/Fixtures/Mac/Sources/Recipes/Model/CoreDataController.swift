import CoreData
import Foundation

final class CoreDataController {
    static let shared = CoreDataController()

    lazy var persistentContainer: NSPersistentContainer = {
        ColorTransformer.register()
        let container = NSPersistentContainer(name: "Recipes")
        container.persistentStoreDescriptions.first?.url = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(UUID().uuidString).sqlite")
        container.loadPersistentStores(completionHandler: { (storeDescription, error) in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        })
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        return container
    }()

    func saveContext() {
        let context = persistentContainer.viewContext
        if context.hasChanges {
            do {
                try context.save()
            } catch {
                let nserror = error as NSError
                fatalError("Unresolved error \(nserror), \(nserror.userInfo)")
            }
        }
    }

    func deleteStore() throws {
        let coordinator = persistentContainer.persistentStoreCoordinator
        for store in coordinator.persistentStores {
            guard let url = store.url else { continue }
            try coordinator.remove(store)
            try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
        }
    }
}

final class RecipeList: NSObject, NSFetchedResultsControllerDelegate {
    let controller: NSFetchedResultsController<Recipe>
    var inserted: [String] = []

    init(context: NSManagedObjectContext) throws {
        let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(
                key: #keyPath(Recipe.name),
                ascending: true,
                selector: #selector(NSString.localizedCaseInsensitiveCompare(_:))
            ),
            NSSortDescriptor(keyPath: \Recipe.rating, ascending: false),
        ]
        controller = NSFetchedResultsController(
            fetchRequest: request,
            managedObjectContext: context,
            sectionNameKeyPath: #keyPath(Recipe.firstLetter),
            cacheName: nil
        )
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        if type == .insert, let path = newIndexPath { inserted.append("\(path.section).\(path.row)") }
    }
}
