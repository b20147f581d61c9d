import Foundation
import Testing

@testable import CoreData

@Suite("A graph with relationships of every kind, changed in two contexts at once")
struct GraphWalkTests {
    private static func number(_ name: String, or value: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? value
    }

    /// `GRAPH_WALKS=60 GRAPH_WALK_FROM=1000` walks longer, and elsewhere; `GRAPH_WALK_KIND=xml` in stores of one kind.
    private static let seeds = number("GRAPH_WALK_FROM", or: 1)..<(number("GRAPH_WALK_FROM", or: 1) + number("GRAPH_WALKS", or: 5))

    /// Documents and incremental stores take their turns; two coordinators are where a store allows for them.
    private static func kind(_ seed: Int, _ layout: GraphWalk.Layout) -> ContractKind {
        let kinds: [ContractKind] = layout.isApart ? [.file, .file, .memory] : kinds
        return kinds[seed % kinds.count]
    }

    private static let kinds =
        ProcessInfo.processInfo.environment["GRAPH_WALK_KIND"].flatMap(ContractKind.init).map { [$0] }
        ?? [.file, .dictionary, .memory, .file, .xml]

    /// Children who hear of all that others save, and save through one context, are in conflict with nobody.
    ///
    /// NB: of what a class has read anew nobody can tell whether others have saved it, as its versions are its own.
    private static func policies(_ kind: ContractKind, _ layout: GraphWalk.Layout, _ merging: GraphWalk.Merging) -> [NSMergePolicy] {
        let trumps = [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump]
        return merging == .atOnce && layout == .layers && kind != .dictionary ? trumps + [.error] : trumps
    }

    // * Objects are made, related at either end, reordered, deleted, refreshed, let go of and saved, here and there.
    // => Both ends say the same after each step; each save is in the file, which has no end that leads nowhere; at the end all see the same.
    @Test("has two ends to each relationship, here and in the file", arguments: GraphWalk.Layout.allCases, GraphWalk.Merging.allCases)
    func walk(layout: GraphWalk.Layout, merging: GraphWalk.Merging) {
        for seed in Self.seeds {
            let kind = Self.kind(seed, layout)
            for policy in Self.policies(kind, layout, merging) {
                do {
                    try GraphWalk(kind, layout, merging, policy, seed: UInt64(seed)).run(80)
                } catch {
                    Issue.record("seed \(seed), \(policy.mergeType): \(error)")
                    return
                }
            }
        }
    }
}
