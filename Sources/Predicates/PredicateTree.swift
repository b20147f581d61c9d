import Foundation

/// What a predicate says, for code that translates or evaluates it.
public indirect enum PredicateTree {
    case constant(Bool)
    case and([PredicateTree])
    case or([PredicateTree])
    case not(PredicateTree)
    case comparison(NSComparisonPredicate)
    /// A block predicate, or a subclass of `NSPredicate` that is neither a comparison nor a compound: it can only be asked.
    case opaque(NSPredicate)
}

extension NSPredicate {
    /// The predicate as an enumeration, to be switched over.
    ///
    /// Compounds of one part are that part, and what is nested in a compound of its own kind is a part of that one.
    /// Subclasses of `NSComparisonPredicate` and `NSCompoundPredicate` are taken for what their parts say, whatever they override.
    /// - Complexity: O(n) in the number of subpredicates.
    public var tree: PredicateTree {
        switch shape {
        case .constant(let value): .constant(value)
        case .comparison(let comparison): .comparison(comparison)
        case .opaque: .opaque(self)
        case .compound(let compound): PredicateTreeBuilder.tree(of: compound)
        }
    }

    enum Shape {
        case constant(Bool)
        case comparison(NSComparisonPredicate)
        case compound(NSCompoundPredicate)
        case opaque
    }

    var shape: Shape {
        if let comparison = self as? NSComparisonPredicate { return .comparison(comparison) }
        if let compound = self as? NSCompoundPredicate { return .compound(compound) }
        if let constant = self as? ConstantPredicate { return .constant(constant.value) }
        // NB: NSPredicate.isEqual looks only at the base class's own storage, so subclasses (which are built as constants) must go first.
        guard type(of: self) == NSPredicate.self else { return .opaque }
        if isEqual(NSPredicate(value: true)) { return .constant(true) }
        return isEqual(NSPredicate(value: false)) ? .constant(false) : .opaque
    }
}
