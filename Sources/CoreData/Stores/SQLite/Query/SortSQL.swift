import Predicates

extension PredicateSQL {
    /// ` ORDER BY …`, or nothing; nil when one of the descriptors cannot be said in SQL, and the order is the caller's affair.
    ///
    /// NULLs come first when ascending, as nil does in memory.
    /// - Throws: the error for a key that does not exist.
    mutating func order(by descriptors: [NSSortDescriptor]) throws -> String? {
        let untouched = scopes
        var order = ""
        for descriptor in descriptors {
            do {
                order += order.isEmpty ? " ORDER BY " : ", "
                order += try term(descriptor)
            } catch is BeyondSQL {
                (scopes, depth) = (untouched, 0)
                return nil
            }
        }
        return order
    }

    /// - Parameter selected: a column of the result, where the descriptor names one.
    mutating func term(_ descriptor: NSSortDescriptor, _ selected: SQLOperand? = nil) throws -> String {
        let operand = try selected ?? sortOperand(descriptor.sortKey)
        // Parameters would stand behind those of the condition, but no key path has any.
        guard descriptor.sortKind != .comparator, operand.text.parameters.isEmpty else { throw BeyondSQL() }
        // Entities are in the order of their names, not of their numbers.
        if operand.kind == .entity { throw BeyondSQL() }
        let collation = operand.kind == .text ? SQLFunctions.collation(for: descriptor.sortKind) : nil
        return operand.text.sql + (collation.map { " COLLATE " + $0 } ?? "") + (descriptor.ascending ? "" : " DESC")
    }

    private mutating func sortOperand(_ key: SortKey) throws -> SQLOperand {
        switch key {
        case .object: return SQLOperand("t0.\(SQLNames.key)", .integer)
        case .key(let path): return try operand(try target(of: path, scope: 0))
        case .keyPath: throw BeyondSQL()
        }
    }
}

extension FetchQuery {
    /// A file is asked for no order by what it does not have. (What is in memory whole has an order by anything.)
    ///
    /// - Throws: `CocoaError` 134060 that names the entity and the key.
    func requireStoredOrder() throws {
        for descriptor in sortDescriptors {
            guard case .key(let path) = descriptor.sortKey else { continue }
            var entity: NSEntityDescription? = entity
            for name in path.split(separator: ".").map(String.init) {
                guard let property = entity?.propertiesByName[name] else { break }
                guard !property.isTransient else { throw Self.transientOrder(property, path) }
                entity = (property as? NSRelationshipDescription)?.destination
            }
        }
    }

    private static func transientOrder(_ property: NSPropertyDescription, _ path: String) -> CocoaError {
        .coreData(
            .coreData,
            """
            A fetch cannot be sorted by “\(path)”: “\(property.name)” of \(property.entity.name ?? "?") is transient, and no store has it. Sort what was \
            fetched.
            """
        )
    }
}
