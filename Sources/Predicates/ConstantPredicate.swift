import Foundation

/// TRUEPREDICATE or FALSEPREDICATE in a format: unlike Foundation's own it prints, copies and compares as what it is.
final class ConstantPredicate: NSPredicate {
    let value: Bool

    override init(value: Bool) {
        self.value = value
        super.init(value: value)
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }
    override func copy() -> Any { self }

    @available(*, deprecated, message: "use printedFormat, which every predicate has")
    override var predicateFormat: String { printedFormat }
    override var description: String { printedFormat }
    override var debugDescription: String { printedFormat }

    override var hash: Int { value.hashValue }
    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return StructureComparison.areEqual(self, other)
    }
}
