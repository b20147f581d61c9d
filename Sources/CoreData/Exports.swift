@_exported import Foundation
@_exported import Predicates

// NB: names that Foundation has too. Without an alias in the module that re-exports both, a client that imports Foundation as well finds
// them ambiguous where it names them as types.
public typealias NSExpression = Predicates.NSExpression
public typealias NSComparisonPredicate = Predicates.NSComparisonPredicate
