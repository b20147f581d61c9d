import Foundation

/// The compound predicate that formats give: unlike Foundation's own it prints, copies and compares as what it is.
final class CompoundPredicate: NSCompoundPredicate {
    override func copy(with zone: NSZone? = nil) -> Any { self }
    override func copy() -> Any { self }

    @available(*, deprecated, message: "use printedFormat, which every predicate has")
    override var predicateFormat: String { printedFormat }
    override var description: String { printedFormat }
    override var debugDescription: String { printedFormat }

    override var hash: Int {
        var hasher = Hasher()
        hasher.combine(compoundPredicateType)
        hasher.combine(subpredicates.count)
        return hasher.finalize()
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return StructureComparison.areEqual(self, other)
    }
}
