import Foundation

extension FormerRows {
    /// Those of the nodes of a store that is about to be closed.
    init(of store: NSAtomicStore, in mirror: StoreMirror, after former: FormerRows?) {
        self.init(after: former)
        for node in store.nodes.all {
            // What nobody has at hand nobody can save against.
            let (root, key) = (node.entity.rootEntity.index, node.identity.key)
            if let row = mirror.rows.cachedRow(root: root, key: key) { note(row.version, node.digest, root: root, key: key) }
        }
    }

    /// The version of a node's row.
    func version(of node: NSAtomicStoreCacheNode) -> Int32 {
        version(node.digest, root: node.entity.rootEntity.index, key: node.identity.key)
    }
}

extension NSAtomicStoreCacheNode {
    /// Equal for equal values, in one process.
    fileprivate final var digest: Int {
        var hasher = Hasher()
        hasher.combine(entity.name)
        for property in entity.properties where !property.isTransient {
            if let relationship = property as? NSRelationshipDescription {
                let keys = (related(relationship.name) ?? []).map(\.identity.key)
                hasher.combine(relationship.isOrdered ? keys : keys.sorted())
            } else if let attribute = property as? NSAttributeDescription, let value = attributeValue(attribute.name) {
                hasher.combine(attribute.name)
                SlotValue(value, for: attribute).hash(into: &hasher)
            }
        }
        return hasher.finalize()
    }
}

extension SlotValue {
    // NB: text and data by all their bytes, which `Hashable` does not promise.
    fileprivate func hash(into hasher: inout Hasher) {
        switch self {
        case .null: break
        case .integer(let number): hasher.combine(number)
        case .boolean(let flag): hasher.combine(flag)
        case .float(let number): hasher.combine(number.bitPattern)
        case .double(let number): hasher.combine(number.bitPattern)
        case .date(let date): hasher.combine(date.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let uuid): hasher.combine(uuid)
        case .decimal(let number): hasher.combine(number.description)
        case .string(let text): hasher.combine(Array(text.utf8))
        case .binary(let data): hasher.combine(Array(data))
        case .reference(let reference): hasher.combine(reference)
        }
    }
}
