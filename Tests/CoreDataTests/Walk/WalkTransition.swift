@testable import CoreData

/// Whether what a save did to a file is what the context's unsaved changes say, under its merge policy.
struct WalkTransition {
    let before: WalkFile
    let after: WalkFile
    let walked: WalkedContext
    let policy: NSMergePolicyType

    private var mayStoreWin: Bool { policy == .mergeByPropertyStoreTrumpMergePolicyType || policy == .rollbackMergePolicyType }
    private var mayBringBack: Bool { policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType }

    func check() throws {
        for serial in Set(before.kinds.keys).union(after.kinds.keys).union(walked.inserted.keys).sorted() { try checkRow(serial) }
        for cell in Set(before.cells.keys).union(after.cells.keys).union(walked.edits.keys).sorted() { try check(cell) }
        for (item, order) in walked.orders { try checkOrder(item, order) }
        for cell in after.dangling.subtracting(before.dangling) where !mayDangle(cell) {
            throw fail("\(cell) refers to \(after[cell]), which is gone")
        }
    }

    private func fail(_ text: String) -> WalkFailure {
        WalkFailure("context \(walked.name) saved under policy \(policy.rawValue): \(text)")
    }

    private func checkRow(_ serial: Int) throws {
        let (was, isThere) = (before.kinds[serial] != nil, after.kinds[serial] != nil)
        if isThere, !was, walked.inserted[serial] == nil, !(mayBringBack && walked.behind.contains(serial)) {
            throw fail("the file has \(serial), which nobody inserted")
        }
        if !isThere, walked.inserted[serial] != nil, !isCascaded(serial) { throw fail("\(serial) was inserted and is not in the file") }
        if !isThere, was, !walked.deleted.contains(serial), !isCascaded(serial) { throw fail("\(serial) is lost from the file") }
        if isThere, walked.deleted.contains(serial), !(walked.behind.contains(serial) && policy != .errorMergePolicyType) {
            throw fail("\(serial) was deleted and is in the file")
        }
    }

    /// A store that wins takes along what depended on a row that is gone from it; and so does an owner that nobody here has read, and that
    /// cannot come back.
    private func isCascaded(_ serial: Int) -> Bool {
        if policy == .errorMergePolicyType || walked.behind.isEmpty { return false }
        if mayStoreWin || walked.tainted.contains(serial) { return true }
        guard let kind = walked.inserted[serial] ?? before.kinds[serial] else { return true }
        return WalkModel.toOnes(of: kind).contains { toOne in
            let cell = WalkCell(serial: serial, key: toOne.name)
            guard toOne.isCascade else { return false }
            let edit = walked.edits[cell]
            // One that changes nothing leaves to others whom it belongs to.
            let owners = [edit?.value, edit?.certainty == .sure ? nil : before[cell]].compactMap { $0?.target }
            return owners.contains { after.kinds[$0] == nil }
        }
    }

    private func check(_ cell: WalkCell) throws {
        guard after.kinds[cell.serial] != nil, cell.other == 0 || after.kinds[cell.other] != nil else { return }
        let (old, new) = (before[cell], after[cell])
        guard let edit = walked.edits[cell] else {
            guard new != old, !isNullified(old, new), !isOverwritten(cell, old, new) else { return }
            if walked.child != nil, WalkModel.isOneToOne(cell.key, of: after.kinds[cell.serial]) { return }
            throw fail("\(cell) was \(old) and is \(new), which nobody wrote")
        }
        if new == edit.value || edit.certainty == .unknown { return }
        if isNullified(edit.value, new) || edit.certainty == .orAsBefore && (new == old || isNullified(old, new)) { return }
        if policy != .errorMergePolicyType, WalkModel.isOneToOne(cell.key, of: after.kinds[cell.serial]), isContested(cell, edit.value) {
            return
        }
        if mayStoreWin, new == old || isNullified(old, new), isContested(cell, edit.value) { return }
        throw fail("\(cell) was \(old), was set to \(edit.value) and is \(new): an edit is lost")
    }

    private func isNullified(_ old: WalkValue, _ new: WalkValue) -> Bool {
        guard new == .empty, let target = old.target else { return false }
        return after.kinds[target] == nil
    }

    /// Under the overwrite policy all that a context has of an object is written; and rows that come back have what it had.
    private func isOverwritten(_ cell: WalkCell, _ old: WalkValue, _ new: WalkValue) -> Bool {
        policy != .errorMergePolicyType && isContested(cell, new)
    }

    private func isContested(_ cell: WalkCell, _ value: WalkValue) -> Bool {
        [cell.serial, cell.other, value.target ?? 0, before[cell].target ?? 0].contains { walked.behind.contains($0) }
    }

    /// Who has read the two ends of a one-to-one relationship at different times cannot know that one refers to the other; and who drops
    /// what a delete did to an object has the reference back.
    private func mayDangle(_ cell: WalkCell) -> Bool {
        if walked.tainted.contains(cell.serial) { return true }
        guard let kind = after.kinds[cell.serial], WalkModel.isOneToOne(cell.key, of: kind) else { return false }
        if walked.behind.contains(cell.serial) { return true }
        guard let toOne = WalkModel.toOne(cell.key, of: kind), let target = before[cell].target else { return false }
        return before[WalkCell(serial: target, key: toOne.inverse)] != .reference(cell.serial)
    }

    private func checkOrder(_ item: Int, _ order: [Int]) throws {
        guard let saved = after.orders[item], walked.behind.isEmpty, walked.tainted.isEmpty else { return }
        let members = Set(saved), known = Set(order)
        if saved.filter(known.contains) != order.filter(members.contains) {
            throw fail("the parts of \(item) were ordered \(order) and are \(saved)")
        }
    }
}
