/// A value in memory of its own, whose address C gives to a callback.
struct CallbackContext<Value> {
    let pointer: UnsafeMutablePointer<Value>

    /// - Postcondition: somebody destroys it.
    init(_ value: Value) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: value)
    }

    /// What a callback was given.
    ///
    /// - Precondition: it is the address of such a value, which has not been destroyed.
    @inline(__always) init(at address: UnsafeMutableRawPointer?) {
        // Every callback of this module is registered with an address.
        pointer = address!.assumingMemoryBound(to: Value.self)
    }

    var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

    func destroy() {
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }
}
