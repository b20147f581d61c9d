import Predicates

// Foundation has classes of these names that cannot be used; one line decides for the whole module.
typealias NSExpression = Predicates.NSExpression
typealias NSComparisonPredicate = Predicates.NSComparisonPredicate
