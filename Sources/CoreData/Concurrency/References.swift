import CShims

/// Loops that count no references.
///
/// NB: an ordinary loop over objects retains and releases each of them, two atomic instructions that cost more than most of what these loops
/// do: a third of the time of a save went there.
extension UnsafeBufferPointer where Element: AnyObject {
    @inline(__always) func forEachBorrowed(_ body: (Element) throws -> Void) rethrows {
        // Whoever gives out the buffer keeps its elements until the loop has ended.
        for index in indices { try Unmanaged.passUnretained(self[index])._withUnsafeGuaranteedRef(body) }
    }
}

extension ContiguousArray where Element: AnyObject {
    /// Calls `body` with each element. The array stays what it is meanwhile: changes of the variable that it was read from do not count.
    @inline(__always) func forEachBorrowed(_ body: (Element) throws -> Void) rethrows {
        try withUnsafeBufferPointer { try $0.forEachBorrowed(body) }
    }
}

/// Where an object is, for a place that C has; somebody else keeps it alive meanwhile.
@inline(__always) func address(of object: AnyObject) -> UnsafeMutableRawPointer { Unmanaged.passUnretained(object).toOpaque() }

/// The object at an address, retained, unless it is being released: then its deinit has begun, and waits for what the caller holds.
///
/// - Precondition: the memory is still there, which a lock sees to that the deinit takes.
@inline(__always) func retainIfAlive<Object: AnyObject>(_ address: UnsafeRawPointer, as type: Object.Type = Object.self) -> Object? {
    // The reference that was just counted is the caller's.
    cd_tryRetain(address) == nil ? nil : Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
}
