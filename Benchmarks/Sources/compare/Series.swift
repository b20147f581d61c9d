/// The values of one operation: a round in each row, a side in each column.
struct Series {
    let operation: Operation
    private(set) var ours: [Double] = []
    private(set) var raw: [Double] = []
    private(set) var grdb: [Double] = []

    /// Runs the sides in turn, one warm-up round that does not count and then `rounds` more.
    init(_ operation: Operation, in bench: Bench, sides: Sides, rounds: Int) throws {
        self.operation = operation
        for round in 0...rounds {
            let isWarmUp = round == 0
            if let value = try bench.value(operation, sides.ours), !isWarmUp { ours.append(value) }
            let base = try operation.direct.map { try bench.value($0, sides.ours) } ?? bench.value(operation, sides.raw)
            if let base, !isWarmUp { raw.append(base) }
            if let value = try bench.value(operation, sides.grdb), !isWarmUp { grdb.append(value) }
        }
    }

    /// The median over the rounds of each round's own ratio; nil when a side is missing.
    static func ratio(_ values: [Double], to base: [Double]) -> Double? {
        median(zip(values, base).map { $0 / $1 })
    }

    /// Nil when there is no value.
    static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

/// The three sides; ours is missing until the engine is there.
struct Sides {
    let ours: (any Side)?
    let raw: any Side
    let grdb: any Side
}

extension Bench {
    fileprivate func value(_ operation: Operation, _ side: (any Side)?) throws -> Double? {
        guard let side, operation.applies(to: side) else { return nil }
        return try measure(operation, side)
    }
}
