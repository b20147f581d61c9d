import Foundation

/// Walks key paths through sources and the collections that they hold.
struct KeyPathReader {
    let semantics: PredicateSemantics

    /// The value at the end of a path. A key met by a collection is read from each element; nested collections become one.
    func value(of keys: [String], in object: Any?) throws -> Any? {
        try value(of: keys[...], in: flattened(object))
    }

    private func value(of keys: ArraySlice<String>, in object: Any?) throws -> Any? {
        var object = object
        for (index, key) in zip(keys.indices, keys) where key != "self" && key != "SELF" {
            if key.hasPrefix("@") { return try aggregate(key, keys[(index + 1)...], of: object) }
            let value = try read(key, from: object)
            object = value ?? collectionOfNothing(keys[index...], object)
        }
        return object
    }

    /// NB: behind a to-one relationship that is nil, an SQL subselect finds an empty collection, where key-value coding finds nil.
    private func collectionOfNothing(_ keys: ArraySlice<String>, _ source: Any?) -> Any? {
        guard semantics == .sql, keys.count > 1, let source = source as? any KeyValueSource else { return nil }
        return source.leadsToCollection(keys.prefix { !$0.hasPrefix("@") }) ? [Any?]() : nil
    }

    func read(_ key: String, from object: Any?) throws -> Any? {
        guard let object else { return nil }
        if let source = object as? any KeyValueSource { return flattened(try source.predicateValue(forKey: key)) }
        switch Value(object) {
        case .null: return nil
        case .list(let elements), .set(let elements): return try elements.flatMap { try values(of: key, in: $0) }
        case let value: if let answer = Messages.value(of: key, in: value) { return flattened(answer) }
        }
        throw PredicateEvaluationError.undefinedKey(key, type: "\(type(of: object))")
    }

    /// What an element gives to the list of values: nil is kept, so that it can be asked for.
    private func values(of key: String, in element: Any?) throws -> [Any?] {
        let value = try read(key, from: element)
        if value is any KeyValueSource { return [value] }
        return Value(value).elements ?? [value]
    }

    private func aggregate(_ name: String, _ rest: ArraySlice<String>, of object: Any?) throws -> Any? {
        // NB: an SQL subselect over the rows of a missing owner finds none, where key-value coding stops at nil.
        if Value(object).isNull, semantics == .foundation { return nil }
        let elements = Value(object).elements ?? []
        if name == "@count" { return elements.count }
        let values = try elements.map { try value(of: rest, in: $0) }.flatMap { Value($0).elements ?? [$0] }
        switch name {
        case "@sum": return Aggregates.sum(values)
        case "@avg": return Aggregates.average(values) ?? (semantics == .foundation ? 0 : nil)
        case "@min": return Aggregates.minimum(values)
        case "@max": return Aggregates.maximum(values)
        case "@unionOfObjects", "@unionOfArrays": return Aggregates.present(values).compactMap { $0 }
        case "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@distinctUnionOfSets":
            return Aggregates.distinct(Aggregates.present(values)).compactMap { $0 }
        default: throw PredicateEvaluationError.unsupported("there is no collection operator \"\(name)\"")
        }
    }
}
