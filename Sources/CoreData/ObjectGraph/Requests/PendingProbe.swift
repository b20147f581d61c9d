import Foundation
import Predicates

/// A condition of a fetch by which its objects with unsaved changes can be found in a table: an attribute is equal to a constant, and nothing is
/// read across relationships.
struct PendingProbe {
    let key: PendingIndex.Key
    let value: UniqueValue

    /// - Parameters:
    ///   - test: the whole predicate, where it is known that it reads stored attributes only.
    ///   - paths: else, what is read.
    init?(_ query: FetchQuery, _ test: RowTest?, _ paths: ReadPaths?) {
        if let paths {
            guard paths.paths.allSatisfy({ $0.count == 1 && query.entity.propertiesByName[$0[0]] is NSAttributeDescription }) else {
                return nil
            }
        }
        let tests = test?.conjuncts ?? query.predicate?.conjuncts.compactMap { $0.test(query.entity) } ?? []
        for case .comparison(let test) in tests where test.relation == .equal {
            guard let value = UniqueValue(test.constant) else { continue }
            (key, self.value) = (PendingIndex.Key(root: query.entity.rootEntity.index, attribute: test.attribute.name), value)
            return
        }
        return nil
    }
}

extension RowTest {
    /// What has to hold all together.
    fileprivate var conjuncts: [RowTest] { if case .and(let parts) = self { parts } else { [self] } }
}

extension PredicateTree {
    /// As for a test.
    fileprivate var conjuncts: [PredicateTree] { if case .and(let parts) = self { parts } else { [self] } }

    fileprivate func test(_ entity: NSEntityDescription) -> RowTest? {
        guard case .comparison(let comparison) = self else { return nil }
        return AttributeTest(comparison, entity)?.rowTest
    }
}
