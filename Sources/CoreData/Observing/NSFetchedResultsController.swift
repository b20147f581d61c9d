import Foundation

/// Fetches objects in sections, and tells a delegate how they change.
///
/// After `performFetch()` the results follow every event of the context: what is inserted, changed, deleted, merged and refreshed there, saved
/// or not. An event with k objects among n takes O(k log n) comparisons; the store is asked only where a predicate or sort descriptor
/// follows a relationship that has no inverse. Also objects count that the context has not read, once a merge brings others' changes of them, and
/// those whose related objects have changed. A limit applies to `performFetch()` only.
///
/// After the context's `reset()` there are no results until the next `performFetch()`. Without a delegate the results stay as they were fetched.
///
/// > Concurrency: used on the queue of its context.
open class NSFetchedResultsController<ResultType>: NSObject {
    /// NB: nothing here may depend on `ResultType`: delegates get the controller as one of another type.
    let results: ControllerResults

    /// A controller that has not fetched yet.
    ///
    /// - Parameters:
    ///   - fetchRequest: which objects, and in which order.
    ///   - context: whose objects they are, and whose changes move them.
    ///   - sectionNameKeyPath: what the objects of a section have in common, a property or a path along to-one relationships; nil for one section.
    ///     The first sort descriptor has to give the same groups.
    ///   - name: accepted, and not used: there is no cache on disk that would have to be deleted.
    /// - Precondition: the request has a sort descriptor, and asks for managed objects.
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?,
        cacheName name: String?
    ) {
        if fetchRequest.sortDescriptors?.isEmpty ?? true {
            misuse("A fetch request of an NSFetchedResultsController needs sort descriptors: set sortDescriptors.")
        }
        (self.fetchRequest, managedObjectContext) = (fetchRequest, context)
        (self.sectionNameKeyPath, cacheName) = (sectionNameKeyPath, name)
        results = ControllerResults()
        super.init()
    }

    /// The request; a change of it counts from the next `performFetch()` on.
    public let fetchRequest: NSFetchRequest<ResultType>
    public let managedObjectContext: NSManagedObjectContext
    public let sectionNameKeyPath: String?
    public let cacheName: String?

    /// Who is told of changes. Setting it after `performFetch()` brings the results up to date, without telling anybody. Held weakly.
    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { results.delegate }
        set { results.setDelegate(newValue) }
    }

    /// Fetches the results; a delegate that takes snapshots gets the first.
    ///
    /// - Throws: as a fetch; `CocoaError` 134060 where the order does not keep the objects of a section together, or where the request asks for
    ///   something else than managed objects.
    open func performFetch() throws {
        guard fetchRequest.resultType == .managedObjectResultType else {
            throw CocoaError.coreData(
                .coreData,
                "An NSFetchedResultsController lists managed objects: set resultType to .managedObjectResultType."
            )
        }
        managedObjectContext.checkQueue()
        let tracker = try ResultsTracker(fetchRequest, managedObjectContext, sectionKeyPath: sectionNameKeyPath)
        try tracker.fetch()
        results.setTracker(tracker, erased)
    }

    /// This very controller, as delegates know it.
    private var erased: NSFetchedResultsController<any NSFetchRequestResult> {
        // Its layout does not depend on the parameter, and the members that do are declared once more for this type.
        unsafeBitCast(self as NSObject?, to: NSFetchedResultsController<any NSFetchRequestResult>.self)
    }

    /// Does nothing: there is no cache.
    open class func deleteCache(withName name: String?) {}

    /// The results in order; nil before `performFetch()`.
    ///
    /// - Complexity: O(n) at the first time after a change.
    open var fetchedObjects: [ResultType]? { results.list.map { cast($0.objects) } }

    /// - Precondition: there is such a place.
    open func object(at indexPath: IndexPath) -> ResultType { cast([results.object(at: indexPath)])[0] }

    /// The place of an object; nil where it is none of the results.
    open func indexPath(forObject object: ResultType) -> IndexPath? { results.path(of: object) }

    /// The sections in order; nil before `performFetch()`. Without a section key path there is one.
    open var sections: [any NSFetchedResultsSectionInfo]? { results.sections(erased) }

    /// What stands for a section in an index, where the delegate does not say: its first letter, capitalised. Override for another.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? { sectionName.first.map { $0.uppercased() } }

    /// The titles of the index, each once.
    open var sectionIndexTitles: [String] { results.indexTitles(erased) }

    /// The first section with a title of the index.
    ///
    /// - Precondition: there is one.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        results.section(forIndexTitle: title, erased)
    }

    private func cast(_ objects: [NSManagedObject]) -> [ResultType] {
        // The fetch has checked that the entities' classes are this one; arrays of class instances have one representation.
        if ResultType.self is NSManagedObject.Type { return unsafeBitCast(objects, to: [ResultType].self) }
        return objects.map { object in
            guard let result = object as? ResultType else { misuse("\(type(of: object)) is no \(ResultType.self).") }
            return result
        }
    }
}

/// What depends on the type of the results, for a controller as delegates know it: the one that is there is of another type.
extension NSFetchedResultsController where ResultType == any NSFetchRequestResult {
    public var fetchedObjects: [any NSFetchRequestResult]? { results.list?.results }
    public func object(at indexPath: IndexPath) -> any NSFetchRequestResult { results.object(at: indexPath) }
    public func indexPath(forObject object: any NSFetchRequestResult) -> IndexPath? { results.path(of: object) }
}
