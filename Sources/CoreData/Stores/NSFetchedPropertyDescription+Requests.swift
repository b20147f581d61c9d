import Foundation
import Predicates

extension NSFetchedPropertyDescription {
    /// The fetch whose results are the property's value. Its predicate may name `$FETCH_SOURCE`, the object that has the property, and
    /// `$FETCHED_PROPERTY`, this description.
    ///
    /// What is done to a request here does nothing to the model: the one that is set is copied, and each access makes a new one. Nil where none
    /// has been set, and for one of a model file that cannot be used.
    ///
    /// - Precondition of setting: the model is in no use yet.
    public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get { request() }
        set { template = newValue.map(FetchTemplate.init) }
    }

    /// As `fetchRequest = request`, for a request of any type. An addition: generic classes cannot be cast into each other on Linux.
    public func setFetchRequest<Result>(_ request: NSFetchRequest<Result>) {
        template = FetchTemplate(request)
    }

    /// As `fetchRequest`, for another type of result.
    func request<Result>() -> NSFetchRequest<Result>? {
        template?.request(in: owner?.model, "the fetch request of \(path)")
    }
}

/// A property as the predicate of a fetch sees it: its name, and what the model says about it for the program's own use.
extension NSFetchedPropertyDescription: KeyValueSource {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "name": name
        case "userInfo": userInfo
        case "entity": owner
        default: throw PredicateEvaluationError.undefinedKey(key, type: "\(Self.self)")
        }
    }
}
