import CoreData
import Foundation
import ModelFormat
import ModelTools

/// What a page asks about a store. Nothing in the store is changed.
actor StoreBrowser {
    let inspector: StoreInspector
    let model: NSManagedObjectModel
    private let source: Model
    let context: NSManagedObjectContext

    /// - Throws: a `CocoaError` where the store does not open with the model.
    init(_ inspector: sending StoreInspector, model: sending NSManagedObjectModel, source: Model) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel(source.fetchable))
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType,
            configurationName: inspector.fittingConfiguration(of: model),
            at: inspector.url,
            options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true]
        )
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        (self.inspector, self.model, self.source) = (inspector, model, source)
    }

    /// The answer to a question: the value to show as JSON.
    ///
    /// - Throws: `BrowserError` for a question that has none, and what reading the store throws.
    func answer(_ question: String, _ parameters: [String: String]) throws -> any Encodable & Sendable {
        let parameters = BrowserParameters(parameters)
        switch question {
        case "store": return try overview()
        case "rows": return try rows(parameters)
        case "object": return try object(parameters)
        case "members": return try members(parameters)
        case "history": return try history(parameters)
        default: throw BrowserError(404, "There is nothing called \(question).")
        }
    }

    /// The drawn model.
    func picture() -> String { svg(of: source) }

    /// Closes the files, so that nothing stays beside the store.
    func close() {
        if let coordinator = context.persistentStoreCoordinator {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
        }
        inspector.connection.close()
    }
}

extension Model {
    /// The model as far as it takes to ask which objects satisfy a predicate, in which order: without what a coordinator refuses because it
    /// cannot keep it up to date or has no values for it, and what only matters to those who change objects.
    fileprivate var fetchable: Model {
        var model = self
        model.fetchRequests = []
        for index in model.entities.indices { model.entities[index].makeFetchable() }
        return model
    }
}

extension Model.Entity {
    fileprivate mutating func makeFetchable() {
        (indexes, compoundIndexes, uniquenessConstraints, fetchedProperties) = ([], [], [], [])
        // No object is made, and the program's classes are not here.
        className = nil
        let unknown: [Model.ValueType] = [.composite, .undefined, .objectID]
        attributes = attributes.filter { !unknown.contains($0.type) }.map { attribute in
            var plain = Model.Attribute()
            (plain.name, plain.type, plain.isOptional, plain.isTransient) = (attribute.name, attribute.type, true, attribute.isTransient)
            plain.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
            return plain
        }
    }
}

/// A question that has no answer, with the status of HTTP that says so.
struct BrowserError: Error, CustomStringConvertible {
    let status: Int
    let description: String

    init(_ status: Int, _ description: String) { (self.status, self.description) = (status, description) }
}

/// The parameters of a question.
struct BrowserParameters {
    private let values: [String: String]

    init(_ values: [String: String]) { self.values = values.filter { !$0.value.isEmpty } }

    subscript(name: String) -> String? { values[name] }

    func required(_ name: String) throws -> String {
        guard let value = values[name] else { throw BrowserError(400, "The question has no \(name).") }
        return value
    }

    var offset: Int { max(values["offset"].flatMap { Int($0) } ?? 0, 0) }
    var limit: Int { min(max(values["limit"].flatMap { Int($0) } ?? 50, 1), 500) }
}
