import Foundation
import Predicates
import SQLiteDriver

extension StoreReader {
    /// The rows of a fetch for dictionaries, of all stores that it asks.
    ///
    /// - Throws: `CocoaError` 134060 for what cannot be computed, 134070 where there is no store to ask; a store's error.
    func dictionaries(_ query: DictionaryQuery) throws -> [NSDictionary] {
        let rows = try asking({ try storesForDictionaries(query.rows) }) { stores in
            stores.count == 1 ? try stores[0].values(query) : try DictionaryMerge(query).rows(of: stores)
        }
        return rows.map { row in
            let dictionary = NSMutableDictionary(capacity: query.columns.count)
            for (column, value) in zip(query.columns, row) { if let value { dictionary[column.name] = value } }
            return dictionary
        }
    }

    private func storesForDictionaries(_ query: FetchQuery) throws -> [any RowStore] {
        let all = try storesToRead()
        if all.isEmpty || query.stores?.isSubset(of: all.map(\.number)) == false {
            // Says why nobody can be asked, before a statement is run.
            _ = try count(query)
        }
        let entities = [query.entity] + (query.includesSubentities ? query.entity.allSubentities : [])
        return all.filter { store in query.stores?.contains(store.number) ?? true && entities.contains(where: store.holds) }
    }
}

/// The rows of several stores as one: grouped again, sorted, and cut.
private struct DictionaryMerge {
    private enum Combination { case same, sum, smallest, largest, average(count: Int) }

    private let query: DictionaryQuery
    /// What each store is asked: without having, order and limit, and with the counts that averages need.
    private var partial: DictionaryQuery
    private var combinations: [Combination] = []
    private var hasAggregates = false
    /// Where groups stand that are no columns, behind those and the counts of averages.
    private var hiddenGroups: [Int] = []

    init(_ query: DictionaryQuery) throws {
        self.query = query
        partial = query
        (partial.having, partial.isDistinct) = (nil, false)
        (partial.rows.sortDescriptors, partial.rows.limit, partial.rows.offset) = ([], 0, 0)
        for (index, column) in query.columns.enumerated() { combinations.append(try combination(of: column, index)) }
        let names = Set(query.columns.map(\.name))
        if let having = query.having, having.comparedExpressions.contains(where: Self.hasAggregate) {
            throw refusal("its havingPredicate computes an aggregate: make that a column, and name it there as $name")
        }
        // Groups that nobody fetches are told apart too.
        for group in query.groups where !names.contains(group.name) {
            hiddenGroups.append(partial.columns.count)
            partial.columns.append(group)
        }
        for descriptor in query.rows.sortDescriptors { try require(descriptor, among: names) }
    }

    /// - Throws: where the rows of the stores cannot be put in that order, or those of one store could not be.
    private func require(_ descriptor: NSSortDescriptor, among names: Set<String>) throws {
        guard case .key(let key) = descriptor.sortKey else { throw refusal("it is sorted by what is no column") }
        if descriptor.sortKind == .comparator { throw refusal("the order by “\(key)” is nothing that a store can compute") }
        guard names.contains(key) else {
            throw refusal("it is sorted by “\(key)”, which has to be a column where there are several stores")
        }
    }

    private func refusal(_ reason: String) -> CocoaError { DictionaryQuery.refusal(query.rows.entity, reason) }

    private mutating func combination(of column: DictionaryQuery.Column, _ index: Int) throws -> Combination {
        guard case .function(let name, let arguments) = column.expression.tree else { return .same }
        if arguments.contains(where: Self.hasAggregate) {
            throw refusal("the column “\(column.name)” computes with aggregates, which cannot be done over several stores")
        }
        // What is computed over a to-many relationship belongs to a row.
        guard PredicateSQL.aggregateFunctions[name] != nil, !arguments.contains(where: isToMany) else { return .same }
        hasAggregates = true
        // What is put together is as it was computed; types come last.
        partial.columns[index].type = .undefinedAttributeType
        switch name {
        case "min:": return .smallest
        case "max:": return .largest
        case "average:":
            partial.columns[index].expression = sum(arguments)
            let count = Predicates.NSExpression(forFunction: "count:", arguments: arguments)
            partial.columns.append(DictionaryQuery.Column(name: "count of \(column.name)", expression: count))
            return .average(count: partial.columns.count - 1)
        default: return .sum
        }
    }

    private func isToMany(_ expression: Predicates.NSExpression) -> Bool {
        guard case .keyPath(nil, let path) = expression.tree else { return false }
        var entity = query.rows.entity
        for key in path.split(separator: ".") {
            guard let relationship = entity.propertiesByName[String(key)] as? NSRelationshipDescription else { return false }
            if relationship.isToMany { return true }
            entity = relationship.destination
        }
        return false
    }

    private func sum(_ arguments: [Predicates.NSExpression]) -> Predicates.NSExpression {
        Predicates.NSExpression(forFunction: "sum:", arguments: arguments)
    }

    private static func hasAggregate(_ expression: Predicates.NSExpression) -> Bool {
        guard case .function(let name, let arguments) = expression.tree else { return false }
        return PredicateSQL.aggregateFunctions[name] != nil || arguments.contains(where: hasAggregate)
    }

    func rows(of stores: [any RowStore]) throws -> [[Any?]] {
        var rows = try stores.flatMap { try $0.values(partial).map { Array($0.prefix(partial.columns.count)) } }
        let isGrouped = hasAggregates || !query.groups.isEmpty
        if isGrouped { rows = try grouped(rows) }
        rows = rows.map(finished)
        if let having = query.having { rows = try rows.filter { try holds(having, $0) } }
        if !query.rows.sortDescriptors.isEmpty { rows.sort(by: precedes) }
        rows = rows.map(typed)
        if query.isDistinct { rows = distinct(rows) }
        let rest = rows.dropFirst(query.rows.offset)
        return Array(query.rows.limit > 0 ? rest.prefix(query.rows.limit) : rest)
    }

    private func grouped(_ rows: [[Any?]]) throws -> [[Any?]] {
        var (groups, places): ([[Any?]], [[AnyHashable?]: Int]) = ([], [:])
        let keys = combinations.indices.filter { if case .same = combinations[$0] { true } else { false } } + hiddenGroups
        for row in rows {
            let key = keys.map { Self.key(row[$0]) }
            if let place = places[key] {
                groups[place] = try combined(groups[place], row)
            } else {
                places[key] = groups.count
                groups.append(row)
            }
        }
        return groups
    }

    /// Each row once, in the order in which they come first.
    private func distinct(_ rows: [[Any?]]) -> [[Any?]] {
        var known: Set<[AnyHashable?]> = []
        return rows.filter { known.insert($0.map(Self.key)).inserted }
    }

    // NB: to Swift, texts of the same characters are equal, whatever their bytes; to a store they are not.
    private static func key(_ value: Any?) -> AnyHashable? {
        if let text = value as? String { return AnyHashable(Data(text.utf8)) }
        return value as? AnyHashable
    }

    private func combined(_ left: [Any?], _ right: [Any?]) throws -> [Any?] {
        try left.indices.map { index in
            // Behind the columns stand counts and groups.
            switch index < combinations.count ? combinations[index] : hiddenGroups.contains(index) ? .same : .sum {
            case .same: left[index]
            case .sum, .average: try added(left[index], right[index])
            case .smallest: chosen(left[index], right[index], .orderedDescending)
            case .largest: chosen(left[index], right[index], .orderedAscending)
            }
        }
    }

    private func chosen(_ left: Any?, _ right: Any?, _ order: ComparisonResult) -> Any? {
        guard left != nil, right != nil else { return left ?? right }
        return SortComparison.compare(left, right) == order ? right : left
    }

    private func added(_ left: Any?, _ right: Any?) throws -> Any? {
        switch (left, right) {
        case (let left as Decimal, let right as Decimal): return left + right
        case (let left as NSNumber, let right as NSNumber):
            if Self.isFraction(left) || Self.isFraction(right) { return NSNumber(value: left.doubleValue + right.doubleValue) }
            let (sum, isOverflown) = left.int64Value.addingReportingOverflow(right.int64Value)
            if isOverflown { throw refusal("a sum is too large") }
            return NSNumber(value: sum)
        default: return left ?? right
        }
    }

    private static func isFraction(_ number: NSNumber) -> Bool { ["d", "f"].contains(String(cString: number.objCType)) }

    private func finished(_ row: [Any?]) -> [Any?] {
        combinations.enumerated().map { index, combination -> Any? in
            guard case .average(let count) = combination else { return row[index] }
            guard let sum = row[index].flatMap(Self.double), let number = row[count].flatMap(Self.double), number > 0 else { return nil }
            return NSNumber(value: sum / number)
        } + hiddenGroups.map { row[$0] }
    }

    /// The columns that were asked for, as their types say.
    private func typed(_ row: [Any?]) -> [Any?] {
        zip(query.columns, combinations).enumerated().map { index, column in
            guard let value = row[index], column.0.type != .undefinedAttributeType else { return row[index] }
            if case .same = column.1 { return value }
            return Self.stored(value)?.value(of: column.0.type)
        }
    }

    /// As SQL gives it.
    private static func stored(_ value: Any) -> SQLiteValue? {
        switch value {
        case let number as Decimal: double(number).map(SQLiteValue.real)
        case let number as NSNumber: isFraction(number) ? .real(number.doubleValue) : .integer(number.int64Value)
        case let text as String: .text(text)
        case let date as Date: .real(date.timeIntervalSinceReferenceDate)
        case let url as URL: .text(url.absoluteString)
        case let data as Data: .blob([UInt8](data))
        case let uuid as UUID: .blob(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) })
        default: nil
        }
    }

    private static func double(_ value: Any) -> Double? {
        (value as? NSNumber)?.doubleValue ?? (value as? Decimal).flatMap { Double($0.description) }
    }

    private func holds(_ having: PredicateTree, _ row: [Any?]) throws -> Bool {
        let names = query.columns.map(\.name) + hiddenGroups.map { partial.columns[$0].name }
        let values = Dictionary(zip(names, row.map { $0 ?? NSNull() })) { first, _ in first }
        do {
            return try having.evaluate(Self.nested(values), semantics: .sql, variables: values) == true
        } catch let error as PredicateEvaluationError {
            throw refusal("its havingPredicate cannot be evaluated over several stores: \(error)")
        }
    }

    /// As key paths look for them: what is called `owner.name` is the `name` of `owner`.
    private static func nested(_ values: [String: Any]) -> [String: Any] {
        let parts = values.map { ($0.key.split(separator: ".", maxSplits: 1).map(String.init), $0.value) }
        var nested: [String: Any] = [:]
        for (names, value) in parts where names.count == 1 { nested[names[0]] = value }
        for (key, inner) in Dictionary(grouping: parts.filter { $0.0.count == 2 }, by: { $0.0[0] }) {
            nested[key] = Self.nested(Dictionary(inner.map { ($0.0[1], $0.1) }) { first, _ in first })
        }
        return nested
    }

    private func precedes(_ left: [Any?], _ right: [Any?]) -> Bool {
        for descriptor in query.rows.sortDescriptors {
            guard let index = query.columns.firstIndex(where: { .key($0.name) == descriptor.sortKey }) else { continue }
            let order = SortComparison.compare(left[index], right[index], kind: descriptor.sortKind)
            if order != .orderedSame { return (order == .orderedAscending) == descriptor.ascending }
        }
        return false
    }
}
