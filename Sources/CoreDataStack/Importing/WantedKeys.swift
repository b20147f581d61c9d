import CoreData
import Foundation

/// The keys to look for, in order and each once, with what the store makes of them.
struct WantedKeys<Key: Hashable, Stored: Hashable> {
    /// Nil of a key that no object in a store can have.
    let pairs: [(key: Key, stored: Stored?)]

    /// - Parameter name: of what is looked up, for an error.
    /// - Throws: `CocoaError` 134060 for two that are one key of a dictionary, but not of a store.
    init(_ keys: some Sequence<Key>, _ name: @autoclosure () -> String, _ stored: (Key) -> Stored?) throws {
        var places: [Key: Int] = [:]
        var pairs: [(key: Key, stored: Stored?)] = []
        for key in keys {
            let stored = stored(key)
            if let place = places[key] {
                guard pairs[place].stored == stored else { throw Self.ambiguity(pairs[place].key, key, name()) }
            } else {
                places[key] = pairs.count
                pairs.append((key, stored))
            }
        }
        self.pairs = pairs
    }

    private static func ambiguity(_ first: Key, _ second: Key, _ name: String) -> CocoaError {
        func spelled(_ key: Key) -> String { "\(key)".unicodeScalars.map { $0.escaped(asASCII: true) }.joined() }
        let why = """
            Objects are looked up by \(name) "\(spelled(first))" and "\(spelled(second))", which are equal in Swift, and which a store tells apart: \
            bring all values into one form first, such as precomposedStringWithCanonicalMapping.
            """
        return CocoaError(.coreData, userInfo: [NSLocalizedDescriptionKey: why])
    }

    /// Those that the store tells apart, each once.
    var distinct: [Key] {
        var known: Set<Stored> = []
        return pairs.compactMap { key, stored in stored.flatMap { known.insert($0).inserted ? key : nil } }
    }
}

/// Looking up and making objects by whatever keys.
extension NSManagedObjectContext {
    /// - Parameter stored: the key of an object as the store has it.
    func found<Object: NSManagedObject, Key, Stored>(
        _ keys: WantedKeys<Key, Stored>,
        where predicate: ([Key]) -> NSPredicate,
        _ stored: (Object) -> Stored?
    ) throws -> [Key: Object] {
        guard !keys.pairs.isEmpty else { return [:] }
        let request = NSFetchRequest<Object>()
        request.predicate = predicate(keys.distinct)
        var byStored: [Stored: Object] = [:]
        for object in try fetch(request) {
            guard let stored = stored(object), byStored[stored] == nil else { continue }
            byStored[stored] = object
        }
        var found: [Key: Object] = [:]
        for (key, stored) in keys.pairs { found[key] = stored.flatMap { byStored[$0] } }
        return found
    }

    /// Makes what is missing.
    func completed<Object: NSManagedObject, Key, Stored>(
        _ found: [Key: Object],
        _ keys: WantedKeys<Key, Stored>,
        _ give: (Object, Key) -> Void
    ) -> [Key: Object] {
        var objects = found
        var made: [Stored: Object] = [:]
        for (key, stored) in keys.pairs where objects[key] == nil {
            if let object = stored.flatMap({ made[$0] }) {
                objects[key] = object
                continue
            }
            let object = Object(context: self)
            give(object, key)
            objects[key] = object
            if let stored { made[stored] = object }
        }
        return objects
    }
}
