import Foundation
import Testing

@testable import CoreData

extension NSManagedObjectContext {
    /// Deletes what a request finds; what the result says.
    @discardableResult
    func batchDelete(
        _ entity: String,
        _ format: String? = nil,
        _ arguments: Any...,
        type: NSBatchDeleteRequestResultType = .resultTypeCount,
        configure: (NSFetchRequest<any NSFetchRequestResult>) -> Void = { _ in }
    ) throws -> NSBatchDeleteResult {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        if let format { fetch.predicate = NSPredicate(format: format, argumentArray: arguments) }
        configure(fetch)
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = type
        return try #require(try execute(request) as? NSBatchDeleteResult)
    }

    @discardableResult
    func batchUpdate(
        _ entity: String,
        _ values: [AnyHashable: Any],
        where format: String? = nil,
        _ arguments: Any...,
        type: NSBatchUpdateRequestResultType = .updatedObjectsCountResultType,
        configure: (NSBatchUpdateRequest) -> Void = { _ in }
    ) throws -> NSBatchUpdateResult {
        let request = NSBatchUpdateRequest(entityName: entity)
        if let format { request.predicate = NSPredicate(format: format, argumentArray: arguments) }
        (request.propertiesToUpdate, request.resultType) = (values, type)
        configure(request)
        return try #require(try execute(request) as? NSBatchUpdateResult)
    }

    @discardableResult
    func batchInsert(
        _ entity: String,
        _ rows: [[String: Any]],
        type: NSBatchInsertRequestResultType = .count
    ) throws -> NSBatchInsertResult {
        let request = NSBatchInsertRequest(entityName: entity, objects: rows)
        request.resultType = type
        return try #require(try execute(request) as? NSBatchInsertResult)
    }
}

extension NSBatchDeleteResult { var count: Int? { result as? Int } }
extension NSBatchUpdateResult { var count: Int? { result as? Int } }
extension NSBatchInsertResult { var count: Int? { result as? Int } }

/// Expects an error of Core Data whose sentence has all these parts.
func expectError(
    _ code: CocoaError.Code,
    _ parts: String...,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    let error = #expect(throws: CocoaError.self, sourceLocation: sourceLocation) { try body() }
    guard let error else { return }
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    for part in parts {
        #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)", sourceLocation: sourceLocation)
    }
}

extension Library {
    /// Titles, pages and versions of the books.
    func books() throws -> String { try sql("SELECT ZTITLE, ZPAGES, Z_OPT FROM ZBOOK ORDER BY Z_PK") }

    /// Saves books with titles and pages.
    @discardableResult func save(_ books: KeyValuePairs<String, Int32>) throws -> [Book] {
        let made = books.map { title, pages in
            let book = Book(context: context)
            (book.title, book.pages) = (title, pages)
            return book
        }
        try context.save()
        return made
    }
}
