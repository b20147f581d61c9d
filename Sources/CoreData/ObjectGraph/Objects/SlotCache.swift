import Synchronization

/// A property's name with the slot that it had in the layout asked last: one compare tells whether that is still right.
///
/// NB: an object whose entity has another layout (an older model, one class for two entities) is looked up by name: never a wrong offset.
public final class SlotCache: Sendable {
    @usableFromInline let name: String
    @usableFromInline let kind: SlotKind?
    /// The layout's id in the upper half, the slot plus one in the lower; slot 0 stands for a property that is none or of another type.
    @usableFromInline let word = Atomic<UInt64>(0)

    @usableFromInline init(name: String, kind: SlotKind?) {
        self.name = name
        self.kind = kind
    }

    /// The slot in the layout, or -1 where the value must go by name.
    @inlinable @inline(__always) final func slot(layout: UInt32, in scope: EntityScope) -> Int {
        let word = word.load(ordering: .relaxed)
        if word &>> 32 == UInt64(layout) { return Int(truncatingIfNeeded: word & 0xffff_ffff) &- 1 }
        return resolve(scope)
    }

    @usableFromInline @inline(never) func resolve(_ scope: EntityScope) -> Int {
        let layout = scope.shape.layout
        var slot = layout.slotsByName[name] ?? -1
        if slot >= 0, layout.slots[slot].kind != kind { slot = -1 }
        word.store(UInt64(layout.id) << 32 | UInt64(slot + 1), ordering: .relaxed)
        return slot
    }
}
