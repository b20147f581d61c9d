/// The objects of an `NSKeyedArchiver` archive under construction. Object 0 is nil.
package struct KeyedArchive {
    package init() {}

    package static let null = PropertyListNode.reference(0)

    private var objects: [PropertyListNode] = [.string("$null")]
    private var strings: [String: PropertyListNode] = [:]
    private var classes: [String: PropertyListNode] = [:]

    /// A reference to an object that `fill` defines later: for objects that refer to each other.
    package mutating func reserve() -> PropertyListNode {
        .reference(reserved())
    }

    /// The number of an object that `define` gives its content.
    mutating func reserved() -> Int {
        objects.append(.string("$null"))
        return objects.count - 1
    }

    mutating func define(_ index: Int, _ content: PropertyListNode) { objects[index] = content }

    /// Defines a reserved object: its class, the superclasses of that, and its keys.
    package mutating func fill(_ reserved: PropertyListNode, _ lineage: [String], _ keys: [String: PropertyListNode]) {
        guard case .reference(let index) = reserved else { return }
        objects[index] = .dictionary(keys.merging(["$class": classReference(lineage)]) { $1 })
    }

    package mutating func object(_ lineage: [String], _ keys: [String: PropertyListNode]) -> PropertyListNode {
        let reserved = reserve()
        fill(reserved, lineage, keys)
        return reserved
    }

    /// A value that is an object of its own without a class: a number, a text, data.
    package mutating func plain(_ node: PropertyListNode) -> PropertyListNode {
        objects.append(node)
        return .reference(objects.count - 1)
    }

    /// Equal texts are one object.
    package mutating func string(_ text: String?) -> PropertyListNode {
        guard let text else { return Self.null }
        if let known = strings[text] { return known }
        let reference = plain(.string(text))
        strings[text] = reference
        return reference
    }

    package mutating func array(_ elements: [PropertyListNode], mutable: Bool = false) -> PropertyListNode {
        object(mutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"], ["NS.objects": .array(elements)])
    }

    package mutating func set(_ elements: [PropertyListNode]) -> PropertyListNode {
        object(["NSSet", "NSObject"], ["NS.objects": .array(elements)])
    }

    /// A dictionary whose keys are in a table of their own, as Core Data has them for the entities of a model.
    mutating func knownKeysDictionary(_ entries: [(key: PropertyListNode, value: PropertyListNode)]) -> PropertyListNode {
        let table = object(
            ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
            ["keys": array(entries.map(\.key)), "length": .integer(Int64(entries.count)), "version": .integer(1)]
        )
        return object(
            ["NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject"],
            [
                "searchMapping": table, "values": array(entries.map(\.value)),
                "emptyToken": string("__empty_slot_token_4c24_98dc_ac1e_b773__"), "version": .integer(1),
            ]
        )
    }

    package mutating func dictionary(_ entries: [(key: PropertyListNode, value: PropertyListNode)], mutable: Bool = false)
        -> PropertyListNode
    {
        object(
            (mutable ? ["NSMutableDictionary"] : []) + ["NSDictionary", "NSObject"],
            ["NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value))]
        )
    }

    private mutating func classReference(_ lineage: [String]) -> PropertyListNode {
        let name = lineage[0]
        if let known = classes[name] { return known }
        let reference = plain(.dictionary(["$classname": .string(name), "$classes": .array(lineage.map { .string($0) })]))
        classes[name] = reference
        return reference
    }

    /// The archive with `root` as its root object.
    package func bytes(root: PropertyListNode) -> [UInt8] {
        BinaryPropertyList.bytes(
            of: .dictionary([
                "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"), "$top": .dictionary(["root": root]),
                "$objects": .array(objects),
            ])
        )
    }
}
