import ArgumentParser
import CoreData
import Foundation
import Logging
import ModelTools

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Prints how a fetch is answered: its SQL, SQLite's plan, and what is left to memory.",
        discussion: """
            The predicate is one as NSPredicate(format:) takes it. A step of the plan that says SCAN reads a whole table; SEARCH uses an index. The \
            model is the one that the store carries, or that of --model, which must be the same.
            """
    )

    @OptionGroup var source: StoreArgument
    @OptionGroup var wanted: StoreModelOptions
    @Option(help: "The entity to fetch.") var entity: String
    @Option(help: "Which objects; otherwise all.") var predicate: String?
    @Option(help: "A key path to sort by, with \" desc\" for the other direction. May be given several times.") var sort: [String] = []
    @Option(help: "At most so many results.") var limit = 0

    func validate() throws { _ = try sort.map(descriptor) }

    func run() throws {
        // A fetch that fails throws, too: it is said once.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let inspector = try source.inspector()
        let model = try wanted.model(of: inspector)
        try model.expectEntity(entity)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType,
            configurationName: inspector.fittingConfiguration(of: model),
            at: source.url,
            options: [NSReadOnlyPersistentStoreOption: true]
        )
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let explanation = try context.performAndWait { try context.explain(request()) }
        var output = Output()
        try output.write("\(explanation)\n")
        try output.flush()
    }

    private func request() throws -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = try predicate.map { try NSPredicate(parsing: $0) }
        request.sortDescriptors = try sort.map(descriptor)
        request.fetchLimit = limit
        return request
    }

    private func descriptor(_ text: String) throws -> NSSortDescriptor {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 1 || (words.count == 2 && ["asc", "desc"].contains(words[1])) else {
            throw ValidationError("--sort takes a key path, or one with \" desc\": \(text)")
        }
        return NSSortDescriptor(key: words[0], ascending: words.last != "desc")
    }
}
