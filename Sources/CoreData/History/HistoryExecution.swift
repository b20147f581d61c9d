import Foundation
import Predicates

extension NSPersistentHistoryChangeRequest: ContextRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        guard let coordinator = try context.connectedCoordinator() else {
            misuse("The context has no persistentStoreCoordinator. Set it before using the context.")
        }
        return try HistoryExecution(self, coordinator).result()
    }
}

/// A history request on its way through the stores.
struct HistoryExecution {
    private let request: NSPersistentHistoryChangeRequest
    private let coordinator: NSPersistentStoreCoordinator
    private let stores: [any RowStore]
    private var query = HistoryQuery()

    /// - Throws: `CocoaError` 134091 where a store that was named has no history, or none has; 134070 for one that is not here, 134060 for a fetch
    ///   of another entity, for one that is to say what is deleted, and for a date that is not a number.
    ///
    /// - Parameter changeLimit: as of `HistoryQuery`.
    init(_ request: NSPersistentHistoryChangeRequest, _ coordinator: NSPersistentStoreCoordinator, changeLimit: Int? = nil) throws {
        (self.request, self.coordinator) = (request, coordinator)
        query.changeLimit = changeLimit
        // NB: SQLite takes it for NULL, before which would be everything.
        if case .date(let date) = request.place, date.timeIntervalSinceReferenceDate.isNaN {
            throw CocoaError.coreData(.coreData, "The date of a history request is not a number: nothing is before it, and nothing after.")
        }
        stores = try coordinator.storesWithHistory(among: request.affectedStores ?? request.fetchRequest?.affectedStores)
        query.wantsChanges = ![.transactionsOnly, .count, .statusOnly].contains(request.resultType)
        guard let fetch = request.fetchRequest else { return }
        // Without what it says, more would go than was meant.
        guard request.operation == .fetch else {
            throw CocoaError.coreData(
                .coreData,
                "A history request that deletes takes no fetchRequest, but what came before a date, a token or a transaction: nothing was deleted."
            )
        }
        switch fetch.entity {
        case HistoryEntities.transaction?: query.subject = .transactions
        case HistoryEntities.change?: query.subject = .changes
        default:
            throw CocoaError.coreData(
                .coreData,
                """
                The fetchRequest of a history request is of \(fetch.entityName ?? "no entity"): set its entity to \
                NSPersistentHistoryTransaction.entityDescription(with:) or NSPersistentHistoryChange.entityDescription(with:).
                """
            )
        }
    }

    func result() throws -> NSPersistentHistoryResult {
        guard request.operation == .fetch else { return try delete() }
        let transactions = try fetch()
        let result: Any =
            switch request.resultType {
            case .statusOnly: true
            case .count: transactions.count
            case .objectIDs: try objectIDs(transactions)
            case .transactionsOnly, .transactionsAndChanges: transactions
            case .changesOnly: try changes(transactions)
            }
        return NSPersistentHistoryResult(result, request.resultType)
    }

    private func objectIDs(_ transactions: [NSPersistentHistoryTransaction]) throws -> [NSManagedObjectID] {
        var known: Set<NSManagedObjectID> = []
        return try changes(transactions).map(\.changedObjectID).filter { known.insert($0).inserted }
    }

    private func delete() throws -> NSPersistentHistoryResult {
        var count = 0
        for store in stores { if let bound = bound(in: store) { count += try store.deleteHistory(before: bound) } }
        return NSPersistentHistoryResult(request.resultType == .count ? count : true, request.resultType)
    }

    private func bound(in store: any RowStore) -> HistoryBound? {
        switch request.place {
        case .date(let date): .date(date)
        case .token(nil): .end
        case .token(let token?): token.number(inStore: store.identifier).map(HistoryBound.number)
        }
    }

    private func start(in store: any RowStore) -> HistoryQuery.Start {
        switch request.place {
        case .date(let date): .later(than: date)
        case .token(let token): token?.number(inStore: store.identifier).map(HistoryQuery.Start.after) ?? .beginning
        }
    }

    private func fetch() throws -> [NSPersistentHistoryTransaction] { try limited(transactions(logs())) }

    /// What there is within the limit of changes, and whether there is more.
    func slice() throws -> (transactions: [NSPersistentHistoryTransaction], isCut: Bool) {
        let logs = try logs()
        return (transactions(logs), logs.contains(where: \.records.isCut))
    }

    private func logs() throws -> [HistoryLog] {
        try stores.map { store in
            var query = query
            query.start = start(in: store)
            query.predicate = predicate(in: store)
            return try reporting { try HistoryLog(store.history(query), store, coordinator).filtered(by: query) }
        }
    }

    /// What it says of tokens, it says of a store's numbers.
    private func predicate(in store: any RowStore) -> PredicateTree? {
        func number(_ token: NSPersistentHistoryToken) -> Int64 { token.number(inStore: store.identifier) ?? 0 }
        return request.fetchRequest?.predicate?.replacingConstants { constant in
            (constant as? NSPersistentHistoryToken).map(number) ?? (constant as? [NSPersistentHistoryToken])?.map(number)
        }.tree
    }

    private func transactions(_ logs: [HistoryLog]) -> [NSPersistentHistoryTransaction] {
        logs.count == 1 ? transactions(logs[0]) : merged(logs)
    }

    private func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as PredicateEvaluationError {
            throw CocoaError.coreData(.coreData, "A predicate or a sort descriptor of a history request cannot be evaluated: \(error).")
        }
    }

    private var hasChanges: Bool { request.resultType != .transactionsOnly }

    private func transactions(_ log: HistoryLog) -> [NSPersistentHistoryTransaction] {
        log.records.transactions.indices.map { NSPersistentHistoryTransaction(log, $0, log.token($0), hasChanges: hasChanges) }
    }

    /// By time, and each store's by number. A token tells how far all of them have come.
    private func merged(_ logs: [HistoryLog]) -> [NSPersistentHistoryTransaction] {
        var next = [Int](repeating: 0, count: logs.count)
        var seen = request.token?.numbers ?? [:]
        var all: [NSPersistentHistoryTransaction] = []
        func time(_ log: Int) -> Double { logs[log].records.transactions[next[log]].timestamp }
        while let log = logs.indices.filter({ next[$0] < logs[$0].records.transactions.count }).min(by: { time($0) < time($1) }) {
            seen[logs[log].storeID] = logs[log].records.transactions[next[log]].number
            all.append(NSPersistentHistoryTransaction(logs[log], next[log], NSPersistentHistoryToken(seen), hasChanges: hasChanges))
            next[log] += 1
        }
        return all
    }

    /// Whether what a fetch's order and limit are about is told one by one: changes then, otherwise transactions.
    private var listsChanges: Bool { query.subject == .changes && [.changesOnly, .objectIDs].contains(request.resultType) }

    private func limited(_ transactions: [NSPersistentHistoryTransaction]) throws -> [NSPersistentHistoryTransaction] {
        guard let fetch = request.fetchRequest, !listsChanges else { return transactions }
        return Self.window(query.subject == .transactions ? try sorted(transactions, fetch) : transactions, fetch)
    }

    private func changes(_ transactions: [NSPersistentHistoryTransaction]) throws -> [NSPersistentHistoryChange] {
        let changes = transactions.flatMap { $0.changes ?? [] }
        guard let fetch = request.fetchRequest, listsChanges else { return changes }
        return Self.window(try sorted(changes, fetch), fetch)
    }

    /// - Throws: `CocoaError` 134060 for a key that one of them has not.
    private func sorted<Element>(_ all: [Element], _ fetch: NSFetchRequest<any NSFetchRequestResult>) throws -> [Element] {
        let descriptors = fetch.sortDescriptors ?? []
        try reporting { for descriptor in descriptors { for element in all { try descriptor.requireValue(in: element) } } }
        return all.sorted(using: descriptors)
    }

    private static func window<Element>(_ all: [Element], _ fetch: NSFetchRequest<any NSFetchRequestResult>) -> [Element] {
        let rest = all.dropFirst(max(fetch.fetchOffset, 0))
        return Array(fetch.fetchLimit > 0 ? rest.prefix(fetch.fetchLimit) : rest)
    }
}

extension NSPersistentStoreCoordinator {
    /// - Parameter chosen: nil for all.
    func storesWithHistory(among chosen: [Any]?) throws -> [any RowStore] {
        let all = allStores
        guard let chosen else {
            let stores = all.filter { $0.capabilities.contains(.history) }
            if stores.isEmpty, let first = all.first { throw first.withoutHistory }
            if !stores.isEmpty { return stores }
            throw CocoaError.coreData(.persistentStoreOperation, "The coordinator has no stores, and so no history. Add one first.")
        }
        return try chosen.compactMap { $0 as? NSPersistentStore }.map { store in
            guard let store = all.first(where: { $0 === store }) else {
                throw CocoaError.removedStore("A history request asks for a store that is not one of the coordinator's.")
            }
            guard store.capabilities.contains(.history) else { throw store.withoutHistory }
            return store
        }
    }

    /// The place behind everything that stores have committed so far: what comes later, `fetchHistory(after:)` gives. Nil where none has a history.
    ///
    /// - Parameter stores: some of the coordinator's; nil for all. Those without a history are passed over.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let wanted = stores?.compactMap { $0 as? NSPersistentStore }
        var numbers: [String: Int64] = [:]
        for store in allStores where store.capabilities.contains(.history) && wanted?.contains(where: { $0 === store }) ?? true {
            // One that cannot be read now is one of which the token says nothing: all of it comes.
            numbers[store.identifier] = try? store.latestTransaction()
        }
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
    }
}
