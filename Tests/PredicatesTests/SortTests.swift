import Foundation
import Predicates
import Testing

@Suite("A sort descriptor")
struct SortTests {
    func names(_ names: [String?], _ selector: Selector?, ascending: Bool = true) -> [String?] {
        let descriptor = NSSortDescriptor(key: "name", ascending: ascending, selector: selector)
        return names.map { Named(name: $0) }.sorted(using: [descriptor]).map(\.name)
    }

    struct Named: KeyValueSource {
        var name: String?
        func predicateValue(forKey key: String) -> Any? { key == "name" ? name : nil }
    }

    @Test("puts nil first, or last when descending")
    func nils() {
        #expect(names(["b", nil, "a", ""], nil) == [nil, "", "a", "b"])
        #expect(names(["b", nil, "a", ""], nil, ascending: false) == ["b", "a", "", nil])
    }

    @Test("compares by bytes without a selector")
    func binary() {
        #expect(names(["b", "é", "Z", "a", "😀", "\u{FFFD}"], nil) == ["Z", "a", "b", "é", "\u{FFFD}", "😀"])
        #expect(names(["b", "Z"], "compare:") == ["Z", "b"])
    }

    @Test("compares as its selector says")
    func selectors() {
        let files = ["file10", "File1", "file2", "éclair", "Zebra", "eclair"]
        #expect(names(files, "localizedStandardCompare:") == ["eclair", "éclair", "File1", "file2", "file10", "Zebra"])
        #expect(names(["b", "A", "a", "C"], Selector("caseInsensitiveCompare:")) == ["A", "a", "b", "C"])
        #expect(names(["é", "f", "e", "F"], "localizedCompare:") == ["e", "é", "f", "F"])
        #expect(names(["F", "é", "E"], "localizedCaseInsensitiveCompare:") == ["E", "é", "F"])
    }

    @Test("tells a store what it needs for SQL")
    func kinds() {
        let kinds: [(Selector?, SortKind)] = [
            (nil, .binary), ("compare:", .binary), ("caseInsensitiveCompare:", .caseInsensitive), ("localizedCompare:", .localized),
            ("localizedCaseInsensitiveCompare:", .localizedCaseInsensitive), ("localizedStandardCompare:", .localizedStandard),
        ]
        for (selector, kind) in kinds {
            let descriptor = NSSortDescriptor(key: "a.b", ascending: false, selector: selector)
            #expect(descriptor.sortKind == kind)
            #expect(descriptor.key == "a.b")
            #expect(descriptor.selector == selector)
            #expect(!descriptor.ascending)
        }
        #expect(NSSortDescriptor(key: "a", ascending: true) { _, _ in .orderedSame }.sortKind == .comparator)
        #expect(NSSortDescriptor(key: nil, ascending: true).sortKey == .object)
        #expect(NSSortDescriptor(keyPath: \Named.name, ascending: true).sortKey == .keyPath(\Named.name))
        #expect(NSSortDescriptor(keyPath: \String.count, ascending: true).sortKey == .keyPath(\String.count))
    }

    @Test("reads key paths, collection operators and the object itself")
    func keys() {
        let people: [[String: Any]] = [
            ["n": 1, "boss": ["age": 3], "dogs": [1]], ["n": 2, "boss": ["age": 2.5], "dogs": [1, 2]], ["n": 3],
        ]
        func order(_ key: String, ascending: Bool = true) -> [Int?] {
            people.sorted(using: [NSSortDescriptor(key: key, ascending: ascending)]).map { $0["n"] as? Int }
        }
        #expect(order("boss.age") == [3, 2, 1])
        #expect(order("dogs.@count", ascending: false) == [2, 1, 3])
        #expect([3, 1, 2].sorted(using: [NSSortDescriptor(key: "self", ascending: true)]) == [1, 2, 3])
        #expect([3, 1, 2].sorted(using: [NSSortDescriptor(key: nil, ascending: false)]) == [3, 2, 1])
        let named = [Named(name: "b"), Named(name: nil), Named(name: "a")]
        #expect(named.sorted(using: [NSSortDescriptor(keyPath: \Named.name, ascending: true)]).map(\.name) == [nil, "a", "b"])
    }

    @Test("leaves ties to the next one and then to the order before")
    func ties() {
        let rows: [[String: Any]] = [
            ["a": 1, "b": 2, "i": 0], ["a": 1, "b": 1, "i": 1], ["a": 0, "b": 9, "i": 2], ["a": 1, "b": 1, "i": 3],
        ]
        let descriptors = [NSSortDescriptor(key: "a", ascending: false), NSSortDescriptor(key: "b", ascending: true)]
        #expect(rows.sorted(using: descriptors).map { $0["i"] as? Int } == [1, 3, 0, 2])
        #expect((rows as NSArray).sortedArray(using: descriptors).map { ($0 as? [String: Any])?["i"] as? Int } == [1, 3, 0, 2])
    }

    @Test("turns round, also twice")
    func reversed() throws {
        let descriptor = NSSortDescriptor(key: "a", ascending: true, selector: "caseInsensitiveCompare:")
        let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
        #expect(reversed.compare(["a": "A"], to: ["a": "b"]) == .orderedDescending)
        #expect(!reversed.ascending && reversed.sortKind == .caseInsensitive && reversed.key == "a")
        #expect(descriptor.isEqual(reversed.reversedSortDescriptor))
        #expect(!descriptor.isEqual(reversed))
        #expect((descriptor.copy() as? NSSortDescriptor)?.key == "a")
    }

    @Test("gives a comparator no nil")
    func comparator() {
        let byLength = NSSortDescriptor(key: "name", ascending: true) { left, right in
            let left = (left as? String)?.count ?? -1, right = (right as? String)?.count ?? -1
            return left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
        }
        #expect(["ccc", nil, "a", "bb"].map { Named(name: $0) }.sorted(using: [byLength]).map(\.name) == [nil, "a", "bb", "ccc"])
    }

    @Test("orders any mixture of values, each way alike")
    func mixture() {
        let values: [Any?] = [
            nil, NSNull(), 1, 1.5, true, Int64.max, Decimal(2), "a", "B", "", Date(), Data([1]), Data([1, 0]), UUID(), URL(string: "a:b"),
            [1],
            NSObject(), Double.nan, Double.infinity,
        ]
        for left in values {
            for right in values {
                #expect(SortComparison.compare(left, right).rawValue == -SortComparison.compare(right, left).rawValue)
                for third in values where SortComparison.compare(left, right) != .orderedDescending {
                    guard SortComparison.compare(right, third) != .orderedDescending else { continue }
                    #expect(SortComparison.compare(left, third) != .orderedDescending, "\(left as Any) \(right as Any) \(third as Any)")
                }
            }
        }
    }

    @Test("stops the program for a selector that cannot be called, and for a subclass that it cannot make")
    func traps() async {
        await #expect(processExitsWith: .failure) { _ = NSSortDescriptor(key: "a", ascending: true, selector: "myCompare:") }
        await #expect(processExitsWith: .failure) {
            final class Mine: NSSortDescriptor {}
            _ = Mine(key: "a", ascending: true)
        }
    }
}
