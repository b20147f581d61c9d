import Foundation

extension NSManagedObjectContext {
    /// What the stores answer; unsaved changes do not count, in whichever context.
    func fetchDictionaries<Result>(_ request: NSFetchRequest<Result>, _ entity: NSEntityDescription) throws -> [NSDictionary] {
        try parentSource.dictionaries(DictionaryQuery(request, query(request, entity)))
    }
}
