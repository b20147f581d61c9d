import Foundation

extension NSManagedObjectContext {
    /// What the stores answer; unsaved changes do not count, in whichever context.
    func fetchDictionaries<Result>(_ request: NSFetchRequest<Result>, _ entity: NSEntityDescription) throws -> [NSDictionary] {
        let query = try DictionaryQuery(request, query(request, entity))
        // A context that was cut off says why.
        if parentLink?.isCut == true { _ = try parentSource.count(query.rows) }
        return try persistentStoreCoordinator?.dictionaries(query) ?? []
    }
}
