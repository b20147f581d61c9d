import CShims

/// An object holds others, those hold others again: releasing the first of a long chain must not need a stack as deep as the chain is long.
///
/// So an object that dies while another lets go, on the same thread, leaves what it holds to that one's loop.
extension NSManagedObject {
    private typealias Left = ContiguousArray<ObjectExtras>

    /// For the deinit only: lets go of the objects in relationships, transient values and fetched properties.
    final func releaseExtras() {
        guard let extras = existingExtras, extras.holdsObjects else { return }
        let list = cd_releaseList()
        // The list is that of a frame below on this thread, which waits for the release that led here.
        if let left = list.pointee { return left.assumingMemoryBound(to: Left.self).pointee.append(extras) }
        rowKeeper = extras.rowOwner
        state.remove(.extras)
        var left: Left = [extras]
        // The pointer is used by deinits that the loop calls, on this thread, and not after it.
        withUnsafeMutablePointer(to: &left) { left in
            list.pointee = UnsafeMutableRawPointer(left)
            while let next = left.pointee.popLast() { next.forgetEverything() }
            list.pointee = nil
        }
    }
}
