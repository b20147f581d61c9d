import Foundation

/// One line of the result.
struct Report {
    let operation: Operation
    let ours, raw, grdb: Double?
    let vsRaw, vsGRDB: Double?
    private let grdbVsRaw: Double?

    init(_ series: Series) {
        operation = series.operation
        ours = Series.median(series.ours)
        raw = Series.median(series.raw)
        grdb = Series.median(series.grdb)
        vsRaw = Series.ratio(series.ours, to: series.raw)
        vsGRDB = Series.ratio(series.ours, to: series.grdb)
        grdbVsRaw = Series.ratio(series.grdb, to: series.raw)
    }

    /// Nil when there is nothing of ours to judge.
    var meetsGate: Bool? {
        switch operation.gate {
        case .timesRaw(let limit), .timesDirect(let limit): vsRaw.map { $0 <= limit }
        case .none: nil
        case .value(let limit): ours.map { $0 <= limit }
        }
    }

    /// What the number says in other words, or a doubt about the peers' own numbers, which are known from many machines.
    var note: String? {
        if operation == .migratePolicy, let ours {
            return "note: \((Double(Workload.migratedCount) / ours).text(0)) objects a second go through a policy."
        }
        guard operation == .insert, let ratio = grdbVsRaw, !(7...10).contains(ratio) else { return nil }
        return "note: GRDB inserts at \(ratio.text(2)) × raw C; 7 to 10 × is usual, so look for what slows or speeds one of them."
    }
}

// MARK: JSON

extension Report: Encodable {
    private enum CodingKeys: String, CodingKey {
        case name
        case ours = "ours_s"
        case raw = "raw_s"
        case grdb = "grdb_s"
        case vsRaw = "vs_raw"
        case vsGRDB = "vs_grdb"
    }

    /// Every key is always there; what there is no value for is null. `…_s` is in the operation's unit.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(operation.rawValue, forKey: .name)
        try container.encode(ours, forKey: .ours)
        try container.encode(raw, forKey: .raw)
        try container.encode(grdb, forKey: .grdb)
        try container.encode(vsRaw, forKey: .vsRaw)
        try container.encode(vsGRDB, forKey: .vsGRDB)
    }

    static func json(_ reports: [Report]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(reports), as: UTF8.self)
    }
}

// MARK: Table

extension Report {
    static func table(_ reports: [Report]) -> String {
        let header = ["operation", "ours", "raw C", "GRDB", "ours/raw", "ours/GRDB", "gate", "met"]
        let lines = [header] + reports.map(\.cells)
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { aligned($0, widths) }.joined(separator: "\n")
    }

    private static func aligned(_ cells: [String], _ widths: [Int]) -> String {
        zip(cells, widths).enumerated()
            .map { column, pair in
                let padding = String(repeating: " ", count: pair.1 - pair.0.count)
                return column == 0 ? pair.0 + padding : padding + pair.0
            }
            .joined(separator: "  ")
    }

    private var cells: [String] {
        let values = [ours, raw, grdb].map { $0.map(operation.unit.text) ?? "–" }
        let ratios = [vsRaw, vsGRDB].map { $0.map { $0.text(2) } ?? "–" }
        return [operation.rawValue] + values + ratios + [gateText, meetsGate.map { $0 ? "yes" : "NO" } ?? "–"]
    }

    private var gateText: String {
        switch operation.gate {
        case .timesRaw(let limit): "≤ \(limit.text(2)) × raw"
        case .timesDirect(let limit): "≤ \(limit.text(2)) × direct"
        case .none: "–"
        case .value(let limit): "≤ \(operation.unit.text(limit))"
        }
    }
}

extension Unit {
    fileprivate func text(_ value: Double) -> String {
        switch self {
        case .seconds: "\((value * 1000).text(1)) ms"
        case .bytes: "\(value.text(0)) B"
        case .factor: "\(value.text(2)) ×"
        case .nanoseconds: "\(value.text(0)) ns"
        }
    }
}

extension Double {
    fileprivate func text(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }
}
