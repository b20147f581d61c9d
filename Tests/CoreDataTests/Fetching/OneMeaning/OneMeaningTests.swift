import Foundation
import Testing

@testable import CoreData

@Suite("A request has one meaning")
struct OneMeaningTests {
    /// `COREDATA_FETCH_REQUESTS=100000` asks more than the usual 2,000.
    private static let requestCount =
        ProcessInfo.processInfo.environment["COREDATA_FETCH_REQUESTS"].flatMap { Int($0) } ?? 2_000

    // * Random models, graphs and requests; the data saved, unsaved in each of three layers, and changed at random in all of them, before and
    //   between the requests.
    // => Each place gives the objects, in the order, that a reference finds among plain values.
    @Test("wherever the data are: in the store, or unsaved in any layer", arguments: 0..<4)
    func oneMeaning(part: Int) throws {
        var kinds: [String: Int] = [:]
        let perPart = Self.requestCount / 4
        for seed in stride(from: part, to: perPart / 50 * 4, by: 4) {
            var meaning = try OneMeaning(seed: UInt64(seed + 1), kinds: kinds)
            try meaning.ask(50)
            kinds = meaning.kinds
            for difference in meaning.differences.prefix(3) { Issue.record("\(difference)") }
        }
        print(kinds.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        for kind in ["path across to-one", "ANY", "SUBQUERY", "@count", "@max", "IN a list", "object", "limit", "sort: across to-one"] {
            #expect(kinds[kind, default: 0] > perPart / 150, "too few of \(kind)")
        }
    }
}
