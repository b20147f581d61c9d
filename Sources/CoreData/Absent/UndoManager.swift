import Foundation

/// Apple's undo manager, of which nobody can have one here: a context's is nil.
open class UndoManager: NSObject {
    @available(*, unavailable, message: "There is no undo yet: rollback() discards what is not saved, and a child context can be dropped.")
    public override init() { absent() }

    open func undo() { absent() }
    open func redo() { absent() }
    open var canUndo: Bool { absent() }
    open var canRedo: Bool { absent() }
    open func beginUndoGrouping() { absent() }
    open func endUndoGrouping() { absent() }
    open var groupingLevel: Int { absent() }
    open var groupsByEvent: Bool {
        get { absent() }
        set { absent() }
    }
    open var levelsOfUndo: Int {
        get { absent() }
        set { absent() }
    }
    open func disableUndoRegistration() { absent() }
    open func enableUndoRegistration() { absent() }
    open var isUndoRegistrationEnabled: Bool { absent() }
    open func removeAllActions() { absent() }
    open func removeAllActions(withTarget target: Any) { absent() }
    open func registerUndo<TargetType>(withTarget target: TargetType, handler: @escaping (TargetType) -> Void) where TargetType: AnyObject {
        absent()
    }
    open func setActionName(_ actionName: String) { absent() }
    open var undoActionName: String { absent() }
}
