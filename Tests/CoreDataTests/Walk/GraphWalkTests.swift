import Foundation
import Testing

@testable import CoreData

@Suite("A graph with relationships of every kind, changed in two contexts at once")
struct GraphWalkTests {
    private static func number(_ name: String, or value: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? value
    }

    /// `GRAPH_WALKS=60 GRAPH_WALK_FROM=1000` walks longer, and elsewhere.
    private static let seeds = number("GRAPH_WALK_FROM", or: 1)..<(number("GRAPH_WALK_FROM", or: 1) + number("GRAPH_WALKS", or: 5))

    // * Objects are made, related at either end, reordered, deleted, refreshed, let go of and saved, here and there.
    // => Both ends say the same after each step; each save is in the file, which has no end that leads nowhere; at the end all see the same.
    @Test("has two ends to each relationship, here and in the file", arguments: GraphWalk.Layout.allCases, GraphWalk.Merging.allCases)
    func walk(layout: GraphWalk.Layout, merging: GraphWalk.Merging) {
        for seed in Self.seeds {
            for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump] {
                do {
                    try GraphWalk(seed % 3 == 0 ? .memory : .file, layout, merging, policy, seed: UInt64(seed)).run(80)
                } catch {
                    Issue.record("seed \(seed), \(policy.mergeType): \(error)")
                    return
                }
            }
        }
    }
}
