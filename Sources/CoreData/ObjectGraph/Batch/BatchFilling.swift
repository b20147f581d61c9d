import Foundation

/// Fills the rows of a batch insert from what a program gives.
struct BatchFilling {
    private let rows: BatchRowCollector

    init(_ rows: BatchRowCollector) { self.rows = rows }

    func fill(_ dictionaries: [[String: Any]]) throws {
        for dictionary in dictionaries {
            rows.begin()
            // Keys are looked up in the dictionary, not the other way round: nothing is made for a value.
            var slots = SlotMask()
            var count = 0
            for key in rows.keys {
                guard let value = dictionary[key.name] else { continue }
                try rows.set(value, key)
                slots.insert(key.slot)
                count += 1
            }
            if count < dictionary.count { throw unknown(dictionary.keys) }
            try rows.end(slots)
        }
    }

    func fill(_ handler: (NSMutableDictionary) -> Bool) throws {
        let dictionary = NSMutableDictionary()
        while !handler(dictionary) {
            rows.begin()
            var slots = SlotMask()
            var count = 0
            for key in rows.keys {
                guard let value = dictionary.object(forKey: key.name) else { continue }
                try rows.set(value, key)
                slots.insert(key.slot)
                count += 1
            }
            if count < dictionary.count { throw unknown(dictionary.allKeys.map { "\($0)" }) }
            try rows.end(slots)
            dictionary.removeAllObjects()
        }
    }

    private func unknown(_ names: some Sequence<String>) -> any Error {
        let known = Set(rows.keys.map(\.name))
        return rows.refusal(of: names.filter { !known.contains($0) }.min() ?? "?")
    }

    /// One object stands for all: its row is set back, filled and taken down, again and again.
    func fill(in context: NSManagedObjectContext, _ handler: (NSManagedObject) -> Bool) throws {
        let object = NSManagedObject.forBatch(rows, in: context)
        let isPlain = object.scope.shape.transformables.isEmpty
        while true {
            rows.begin()
            object.forgetWhatWasSet()
            if handler(object) { return }
            guard object.row == rows.row.bytes, object.changedToManys.isEmpty else { throw toMany(object) }
            if !isPlain, let error = object.transformationErrors().first { throw error }
            try rows.end(object.changedSlots)
        }
    }

    private func toMany(_ object: NSManagedObject) -> any Error {
        guard let name = object.changedToManys.first else {
            return CocoaError.coreData(
                .coreData,
                "The object of an NSBatchInsertRequest of \(rows.entity.name ?? "?") was used for something else."
            )
        }
        return rows.refusal(of: name)
    }
}

extension NSManagedObject {
    /// An object whose row is that of a batch insert. Its context does not know it, and nothing that is set follows inverses.
    fileprivate static func forBatch(_ rows: BatchRowCollector, in context: NSManagedObjectContext) -> NSManagedObject {
        Construction.make(
            context.registry.scope(of: rows.entity, store: 0),
            Row(rows.row),
            key: context.identityMap.nextTemporaryKey(),
            state: [.ownRow, .noted, .loading]
        )
    }

    fileprivate func forgetWhatWasSet() {
        changedBits = 0
        if state.contains(.extras) { extras.forgetEverything() }
    }

    /// The names of to-many relationships that were set: no row has them.
    fileprivate var changedToManys: [String] {
        var names: [String] = []
        existingExtras?.forEachToMany { if $0.hasChanges { names.append(scope.shape.toManys[$0.index].name) } }
        return names
    }
}
