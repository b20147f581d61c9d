import Foundation
import Predicates

/// A condition of a fetch by which its objects with unsaved changes can be found in a table: an attribute is equal to a constant, and nothing is
/// read across relationships.
struct PendingProbe {
    let key: PendingIndex.Key
    let value: UniqueValue

    init?(_ query: FetchQuery, _ paths: ReadPaths) {
        guard let predicate = query.predicate,
            paths.paths.allSatisfy({ $0.count == 1 && query.entity.propertiesByName[$0[0]] is NSAttributeDescription })
        else { return nil }
        for case .comparison(let comparison) in predicate.conjuncts {
            guard let test = AttributeTest(comparison, query.entity), test.relation == .equal, let value = UniqueValue(test.constant) else {
                continue
            }
            (key, self.value) = (PendingIndex.Key(root: query.entity.rootEntity.index, attribute: test.attribute.name), value)
            return
        }
        return nil
    }
}

extension PredicateTree {
    /// What has to hold all together.
    fileprivate var conjuncts: [PredicateTree] { if case .and(let parts) = self { parts } else { [self] } }
}
