import Synchronization

/// A property's name with the slot that it had in the layout asked last: one compare tells whether that is still right.
///
/// NB: an object whose entity has another layout (an older model, one class for two entities) is looked up by name: never a wrong offset.
/// One for each name and kind, never freed, so that a typed name is a plain pointer that costs no reference count.
public final class SlotCache: Sendable {
    @usableFromInline let name: String
    private let kind: SlotKind?
    /// The layout's id in the upper half, the slot plus one in the lower; slot 0 stands for a property that is none or of another type.
    @usableFromInline let word = Atomic<UInt64>(0)

    private init(name: String, kind: SlotKind?) {
        self.name = name
        self.kind = kind
    }

    private struct Key: Hashable {
        let name: String
        let kind: SlotKind?
    }
    private static let known = Lock<[Key: SlotCache]>([:])

    /// A cache that costs no reference count: none is ever freed.
    @usableFromInline struct Reference: Sendable {
        @usableFromInline let cache: Unmanaged<SlotCache>

        @inlinable @inline(__always) var name: String { cache.takeUnretainedValue().name }
    }

    static func named(_ name: StaticString, kind: SlotKind?) -> Reference {
        let key = Key(name: "\(name)", kind: kind)
        return known.withLock { known in
            let cache = known[key] ?? SlotCache(name: key.name, kind: kind)
            known[key] = cache
            return Reference(cache: Unmanaged.passUnretained(cache))
        }
    }

    /// The slot in the layout, or -1 where the value must go by name.
    @inline(never) func resolve(_ layout: EntityLayout) -> Int {
        var slot = layout.slotsByName[name] ?? -1
        if slot >= 0, layout.slots[slot].kind != kind { slot = -1 }
        word.store(UInt64(layout.id) << 32 | UInt64(slot + 1), ordering: .relaxed)
        return slot
    }
}

extension NSManagedObject {
    /// The slot of a property in this object's rows, or -1 where the value must go by name.
    @inlinable @inline(__always) final func slot(_ property: SlotCache.Reference) -> Int {
        let word = property.cache._withUnsafeGuaranteedRef { $0.word.load(ordering: .relaxed) }
        let layout = scopeReference._withUnsafeGuaranteedRef { $0.layoutID }
        if word &>> 32 == UInt64(layout) { return Int(truncatingIfNeeded: word & 0xffff_ffff) &- 1 }
        return resolve(property)
    }

    @usableFromInline @inline(never) final func resolve(_ property: SlotCache.Reference) -> Int {
        property.cache.takeUnretainedValue().resolve(scope.shape.layout)
    }
}
