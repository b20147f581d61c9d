import Foundation

/// The compound predicate that formats give: unlike Foundation's own on Linux it prints, copies and compares as what it is.
///
/// In modules with a model the plugin makes it what `NSCompoundPredicate` means. Elsewhere
/// `typealias NSCompoundPredicate = CoreData.CompoundPredicate` does; where the name means Foundation's, its predicates work as well, and
/// `printedFormat` prints them.
open class CompoundPredicate: NSCompoundPredicate {
    /// The predicate itself: it never changes.
    open override func copy(with zone: NSZone? = nil) -> Any { self }
    open override func copy() -> Any { self }

    @available(*, deprecated, message: "use printedFormat, which every predicate has")
    open override var predicateFormat: String { printedFormat }
    /// As `printedFormat`.
    open override var description: String { printedFormat }
    open override var debugDescription: String { printedFormat }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(compoundPredicateType)
        hasher.combine(subpredicates.count)
        return hasher.finalize()
    }

    /// Whether the other one has the same parts in the same order, of whatever class.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return StructureComparison.areEqual(self, other)
    }
}
