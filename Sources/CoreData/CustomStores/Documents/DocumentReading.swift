import Foundation

/// Makes the nodes of a document's objects.
struct DocumentReading {
    private let document: Document
    private let store: DocumentStore
    private var nodes: [Key: NSAtomicStoreCacheNode] = [:]

    private struct Key: Hashable {
        let root: String
        let number: Int64
    }

    init(_ document: Document, _ store: DocumentStore) { (self.document, self.store) = (document, store) }

    /// - Throws: `CocoaError` 259 for what the model has no place for.
    mutating func all() throws -> [NSAtomicStoreCacheNode] {
        let entities = store.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        for (name, objects) in document.objects.sorted(by: { $0.key < $1.key }) {
            guard let entity = entities[name], !entity.isAbstract else {
                throw corrupt("has objects of entity \(name), which the model has not")
            }
            for object in objects { try makeNode(object, entity) }
        }
        for (name, objects) in document.objects {
            guard let entity = entities[name] else { continue }
            for object in objects { try relate(object, entity) }
        }
        return Array(nodes.values)
    }

    private func corrupt(_ what: String) -> CocoaError { Document.corrupt(store.url, what) }

    private func key(_ object: [String: Any], _ entity: NSEntityDescription) throws -> Key {
        guard let number = object["id"].flatMap(DocumentValue.integer), number > 0 else {
            throw corrupt("has an object of entity \(entity.name ?? "?") without an id")
        }
        return Key(root: entity.rootEntity.name ?? "", number: number)
    }

    /// What is missing is empty.
    private func dictionary<Value>(_ part: Any?, of type: [String: Value].Type, _ entity: NSEntityDescription) throws -> [String: Value] {
        guard let part else { return [:] }
        guard let dictionary = part as? [String: Value] else {
            throw corrupt("has an object of entity \(entity.name ?? "?") that is damaged")
        }
        return dictionary
    }

    /// The greatest number below each root entity.
    var lastNumbers: [String: Int64] {
        nodes.keys.reduce(into: document.lastNumbers) { $0[$1.root] = max($0[$1.root] ?? 0, $1.number) }
    }

    private mutating func makeNode(_ object: [String: Any], _ entity: NSEntityDescription) throws {
        let key = try key(object, entity)
        let node = NSAtomicStoreCacheNode(objectID: store.objectID(for: entity, withReferenceObject: key.number))
        guard nodes.updateValue(node, forKey: key) == nil else { throw corrupt("has two objects \(entity.name ?? "?") \(key.number)") }
        for (name, value) in try dictionary(object["values"], of: [String: Any].self, entity) {
            guard let attribute = entity.attributesByName[name], let stored = DocumentValue.decoded(value, for: attribute) else {
                throw corrupt("has a value for \(entity.name ?? "?").\(name) that is none")
            }
            node.setValue(try readable(stored, attribute, entity), forKey: name)
        }
    }

    /// - Throws: `CocoaError` 134080 for what the attribute's transformer cannot read.
    private func readable(_ stored: SlotValue, _ attribute: NSAttributeDescription, _ entity: NSEntityDescription) throws -> Any? {
        do { return try stored.value(for: attribute) } catch {
            throw CocoaError.coreData(
                .persistentStoreOpen,
                "\(store.url?.path ?? "The file") has a value for \(entity.name ?? "?").\(attribute.name) that cannot be read: \(error.localizedDescription)",
                userInfo: [NSFilePathErrorKey: store.url?.path ?? "", NSUnderlyingErrorKey: error]
            )
        }
    }

    private func relate(_ object: [String: Any], _ entity: NSEntityDescription) throws {
        guard let node = nodes[try key(object, entity)] else { return }
        for (name, numbers) in try dictionary(object["relationships"], of: [String: [NSNumber]].self, entity) {
            guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity else {
                throw corrupt("has a relationship \(entity.name ?? "?").\(name), which the model has not")
            }
            let root = destination.rootEntity.name ?? ""
            let ends = try numbers.map { number in
                guard let end = DocumentValue.integer(number).flatMap({ nodes[Key(root: root, number: $0)] }) else {
                    throw corrupt("leads from \(entity.name ?? "?").\(name) to object \(number), which it has not")
                }
                return end
            }
            guard relationship.isToMany || ends.count <= 1 else {
                throw corrupt("leads from \(entity.name ?? "?").\(name) to \(ends.count) objects, which can be one only")
            }
            let value: Any? = !relationship.isToMany ? ends.first : relationship.isOrdered ? NSOrderedSet(array: ends) : NSSet(array: ends)
            node.setValue(value, forKey: name)
        }
    }
}
