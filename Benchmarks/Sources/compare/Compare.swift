import ArgumentParser
import CBaseline
import Foundation

@main
struct Compare: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures this package against the same work in C and in GRDB, in CPU time of one process.",
        discussion: """
            Each round runs ours, the C loop and GRDB in turn; a ratio is the median of the rounds' own ratios. After every \
            round a connection of its own reads the file and compares it with what ought to be there; a difference ends the run. \
            memory-… is in bytes, growth-… is how many times longer four times the objects take. three-layers… and \
            batch-import-with-main stand beside our own direct work instead of the C loop's; the latter, perform-and-wait and \
            await-perform are in time by the clock on the wall. ordered-append stands beside the typed add, ordered-save-one…, which \
            is 20 saves of one addition to 40,000 members, beside the same at 400.
            """
    )

    @Flag(help: "Prints JSON; the keys that end in _s are in seconds, bytes or times.") var json = false
    @Flag(help: "One round on 20,000 objects: shows that everything runs, not how fast.") var quick = false
    @Option(parsing: .upToNextOption, help: "Only these operations.") var only: [Operation] = []
    @Option(help: "Rounds that count, after one that warms up.") var rounds: Int?

    func validate() throws {
        if let rounds, rounds < 1 { throw ValidationError("--rounds must be at least 1.") }
    }

    func run() throws {
        let workload = Workload(count: quick ? 20_000 : Workload.fullCount)
        let bench = try Bench(workload: workload)
        let measured = Result { try reports(of: bench) }
        try bench.removeFiles()
        try show(measured.get())
    }

    private func reports(of bench: Bench) throws -> [Report] {
        let workload = bench.workload
        let sides = Sides(ours: makeOurSide(workload), raw: RawSide(workload: workload), grdb: GRDBSide(workload: workload))
        return try operations.map { operation in
            log("\(operation.rawValue) …")
            return Report(try Series(operation, in: bench, sides: sides, rounds: rounds ?? (quick ? 1 : 5)))
        }
    }

    private var operations: [Operation] {
        let all = only.isEmpty ? Operation.allCases.filter { !$0.isBase } : only
        guard all.contains(.importWordNet), !WordNetImport.isPossible else { return all }
        log("import-wordnet is left out: there is no WordNet in \(WordNetImport.data.path). Debian has it in wordnet-base.")
        return all.filter { $0 != .importWordNet }
    }

    private func show(_ reports: [Report]) throws {
        print(json ? try Report.json(reports) : Report.table(reports))
        if !quick { (reports.compactMap(\.note) + Longest.notes).forEach(log) }
    }

    /// Progress and notes go to standard error, so that standard output is the result and nothing else.
    private func log(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
