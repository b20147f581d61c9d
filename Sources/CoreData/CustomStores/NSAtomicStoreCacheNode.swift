import Foundation

/// The values of one object of an atomic store, as the store has them in memory.
open class NSAtomicStoreCacheNode: NSObject {
    public let objectID: NSManagedObjectID
    /// The values by name: those of attributes as their objects have them, another node for a to-one relationship, a set of nodes for a to-many
    /// one, an `NSOrderedSet` of them for an ordered one. What is missing is nil.
    open var propertyCache: NSMutableDictionary?

    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    open func value(forKey key: String) -> Any? { propertyCache?.object(forKey: key) }

    open func setValue(_ value: Any?, forKey key: String) {
        let values = propertyCache ?? NSMutableDictionary()
        propertyCache = values
        if let value = unwrapped(value) { values.setObject(value, forKey: NSString(string: key)) } else { values.removeObject(forKey: key) }
    }

    open override var description: String { "<\(type(of: self)) \(objectID.uriRepresentation().absoluteString)>" }
}

extension NSAtomicStoreCacheNode {
    /// Sets several values by their keys; `NSNull` is nil.
    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    final var identity: RowIdentity { objectID.identity }
    final var entity: NSEntityDescription { objectID.entity }

    /// The value of an attribute; nil also for `NSNull`.
    final func attributeValue(_ name: String) -> Any? { value(forKey: name).flatMap { $0 is NSNull ? nil : $0 } }

    /// The objects of a relationship, whichever form they have in the node; nil for what is no form of one.
    final func related(_ name: String) -> [NSManagedObjectID]? {
        switch value(forKey: name) {
        case nil, is NSNull: []
        case let node as NSAtomicStoreCacheNode: [node.objectID]
        case let id as NSManagedObjectID: [id]
        case let nodes as NSOrderedSet: Self.ids(nodes.array)
        case let nodes as NSSet: Self.ids(nodes.allObjects)
        case let nodes as [Any]: Self.ids(nodes)
        case let nodes as Set<NSAtomicStoreCacheNode>: nodes.map(\.objectID)
        default: nil
        }
    }

    private static func ids(_ values: [Any]) -> [NSManagedObjectID]? {
        let ids = values.compactMap { ($0 as? NSAtomicStoreCacheNode)?.objectID ?? $0 as? NSManagedObjectID }
        return ids.count == values.count ? ids : nil
    }

    /// The values by name, so that they can be put back.
    final var snapshot: NSMutableDictionary? {
        guard let propertyCache else { return nil }
        let copy = NSMutableDictionary()
        for (key, value) in propertyCache {
            guard let key = key as? String else { continue }
            copy.setObject(Self.copy(of: value), forKey: NSString(string: key))
        }
        return copy
    }

    /// What a class can change in place, as it is now.
    private static func copy(of value: Any) -> Any {
        switch value {
        case let set as NSMutableSet: NSMutableSet(array: set.allObjects)
        case let set as NSMutableOrderedSet: NSMutableOrderedSet(array: set.array)
        case let list as NSMutableArray: NSMutableArray(array: list.map { $0 })
        case let values as NSMutableDictionary: values.mutableCopy()
        case let text as NSMutableString: NSMutableString(string: text.substring(from: 0))
        case let data as NSMutableData: NSMutableData(data: Data(referencing: data))
        default: value
        }
    }
}
