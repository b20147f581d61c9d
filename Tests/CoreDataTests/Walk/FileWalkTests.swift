import Foundation
import Testing

@testable import CoreData

/// Runs walks, and finds a short one that fails as a long one did.
struct WalkRun {
    let kind: StoreKind
    let groups: Set<WalkStep.Group>
    var seed: UInt64 = 0

    /// What goes wrong, and after how many steps.
    func failure(_ steps: [WalkStep]) -> (text: String, count: Int)? {
        var count = 0
        let trace = Self.trace(seed)
        do {
            let walk = try FileWalk(kind, groups)
            for step in steps {
                count += 1
                trace?.write(Data("\(step)\n".utf8))
                try walk.step(step)
            }
            try walk.checkEverything()
            return nil
        } catch {
            let text = "\(error)"
            return Self.ignored.contains { text.contains($0) } ? nil : (text, count)
        }
    }

    /// A file that has the steps of the latest run, for those that do not end.
    private static func trace(_ seed: UInt64) -> FileHandle? {
        guard let folder = ProcessInfo.processInfo.environment["WALK_TRACE"] else { return nil }
        let path = "\(folder)/seed-\(seed)"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return FileHandle(forWritingAtPath: path)
    }

    /// Parts of the sentences that end a walk without failing it, to find others.
    private static let ignored = (ProcessInfo.processInfo.environment["WALK_IGNORE"] ?? "").split(separator: "|").map(String.init)

    /// Leaves out steps as long as what is left fails.
    func shortened(_ steps: [WalkStep], until deadline: Date) -> [WalkStep] {
        var steps = steps
        var length = max(1, steps.count / 2)
        while true {
            var start = 0
            var isShorter = false
            while start < steps.count {
                if Date() > deadline { return steps }
                let rest = Array(steps[..<start] + steps[min(start + length, steps.count)...])
                if let failure = failure(rest) {
                    steps = Array(rest.prefix(failure.count))
                    isShorter = true
                } else {
                    start += length
                }
            }
            if length == 1, !isShorter { return steps }
            length = max(1, length / 2)
        }
    }

    /// Walks a seed's steps; a failure is recorded as a test that fails likewise.
    func walk(_ count: Int) {
        let steps = WalkStep.steps(count, seed: seed, groups)
        guard let failure = failure(steps) else { return }
        let short = shortened(
            Array(steps.prefix(failure.count)),
            until: Date() + Double(ProcessInfo.processInfo.environment["WALK_SHORTEN"].flatMap(Int.init) ?? 20)
        )
        Issue.record(
            """
            Seed \(seed), step \(failure.count): \(failure.text)
            \(self.failure(short)?.text ?? "does not fail again")
            #expect(WalkRun(kind: \(kind == .file ? ".file" : ".memory"), groups: [\(groups.map { ".\($0)" }.sorted().joined(separator: ", "))]).failure([
            \(short.map { "    \($0)," }.joined(separator: "\n"))
            ])?.text == nil)
            """
        )
    }
}

@Suite("Two coordinators on one file agree with plain values")
struct FileWalkTests {
    /// What is walked, unless a run asks for other groups.
    static let groups: Set<WalkStep.Group> = {
        guard let names = ProcessInfo.processInfo.environment["WALK_GROUPS"] else {
            return Set(WalkStep.Group.allCases)
        }
        return Set(names.split(separator: ",").compactMap { WalkStep.Group(rawValue: String($0)) })
    }()
    private static func number(_ name: String, or value: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? value
    }
    static let seeds = UInt64(number("WALK_SEED", or: 1))..<UInt64(number("WALK_SEED", or: 1) + number("WALK_SEEDS", or: 50))
    static let length = number("WALK_STEPS", or: 100)

    @Test("whatever contexts, their children and strangers do to it and to each other", arguments: seeds)
    func walk(seed: UInt64) {
        WalkRun(kind: seed % 5 == 4 ? .memory : .file, groups: Self.groups, seed: seed).walk(Self.length)
    }
}
