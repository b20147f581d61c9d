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

    @usableFromInline static func named(_ name: StaticString, kind: SlotKind?) -> Unmanaged<SlotCache> {
        let key = Key(name: "\(name)", kind: kind)
        return known.withLock { known in
            if let cache = known[key] { return Unmanaged.passUnretained(cache) }
            let cache = SlotCache(name: key.name, kind: kind)
            known[key] = cache
            return Unmanaged.passUnretained(cache)
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
    @inlinable @inline(__always) final func slot(_ cache: Unmanaged<SlotCache>) -> Int {
        let word = cache._withUnsafeGuaranteedRef { $0.word.load(ordering: .relaxed) }
        let layout = scopeReference._withUnsafeGuaranteedRef { $0.layoutID }
        if word &>> 32 == UInt64(layout) { return Int(truncatingIfNeeded: word & 0xffff_ffff) &- 1 }
        return resolve(cache)
    }

    @usableFromInline @inline(never) final func resolve(_ cache: Unmanaged<SlotCache>) -> Int {
        cache.takeUnretainedValue().resolve(scope.shape.layout)
    }
}
