import Foundation

/// Members of Apple's that are not there yet.
extension NSManagedObjectContext {
    /// Always nil, as it is on iOS until it is set: there is no undo yet. `undoManager = nil` is how it is, and nobody can make another one.
    public var undoManager: UndoManager? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "There is no undo yet: rollback() discards what is not saved, and a child context can be dropped.")
    public func undo() { absent() }

    @available(*, unavailable, message: "There is no undo yet: rollback() discards what is not saved, and a child context can be dropped.")
    public func redo() { absent() }
}
