import Foundation

/// Members of Apple's that are not there yet.
extension NSManagedObjectContext {
    @available(
        *,
        unavailable,
        message: "There is no undo yet: rollback() discards what is not saved. Remove undoManager = nil, which is how it is."
    )
    public var undoManager: UndoManager? {
        get { absent() }
        set { absent() }
    }

    @available(*, unavailable, message: "There is no undo yet: rollback() discards what is not saved, and a child context can be dropped.")
    public func undo() { absent() }

    @available(*, unavailable, message: "There is no undo yet: rollback() discards what is not saved, and a child context can be dropped.")
    public func redo() { absent() }
}
