import Foundation

/// One value out of many. Nil and what is not of a kind that can be summed or ordered is left out.
enum Aggregates {
    static func sum(_ values: [Any?]) -> Any {
        numbers(values).reduce(ExactNumber.signed(0), +).any
    }

    /// Always a division of real numbers; nil for no numbers.
    static func average(_ values: [Any?]) -> Any? {
        let numbers = numbers(values)
        if numbers.isEmpty { return nil }
        let sum = numbers.reduce(ExactNumber.signed(0), +)
        if case .decimal(let decimal) = sum { return decimal / Decimal(numbers.count) }
        return sum.double / Double(numbers.count)
    }

    static func minimum(_ values: [Any?]) -> Any? { extreme(values, .orderedAscending) }
    static func maximum(_ values: [Any?]) -> Any? { extreme(values, .orderedDescending) }

    private static func extreme(_ values: [Any?], _ wanted: ComparisonResult) -> Any? {
        present(values).reduce(nil) { (best: Any?, value: Any?) in
            guard let best else { return value }
            return Value(value).order(to: Value(best)) == wanted ? value : best
        }
    }

    static func present(_ values: [Any?]) -> [Any?] { values.filter { !Value($0).isNull } }

    static func numbers(_ values: [Any?]) -> [ExactNumber] {
        values.compactMap { if case .number(let number) = Value($0) { number } else { nil } }
    }

    static func median(_ values: [Any?]) -> Any? {
        let sorted = numbers(values).sorted { $0.compare($1) == .orderedAscending }
        guard let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        if sorted.count % 2 == 1 { return sorted[middle].any }
        return sorted.count == 1 ? last.any : (sorted[middle - 1].double + sorted[middle].double) / 2
    }

    /// All values that occur most often, in the order in which they are met first.
    static func mode(_ values: [Any?]) -> [Any?] {
        let numbers = numbers(values).map(\.any)
        var counts: [DistinctValue: Int] = [:]
        for number in numbers { counts[DistinctValue(number), default: 0] += 1 }
        let most = counts.values.max()
        return distinct(numbers).filter { counts[DistinctValue($0)] == most }
    }

    /// The standard deviation of the values as a whole population.
    static func standardDeviation(_ values: [Any?]) -> Any? {
        let numbers = numbers(values).map(\.double)
        if numbers.isEmpty { return nil }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        return (numbers.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(numbers.count)).squareRoot()
    }

    /// Each value once, in the order in which they are met first.
    static func distinct(_ values: [Any?]) -> [Any?] {
        var seen: Set<DistinctValue> = []
        return values.filter { seen.insert(DistinctValue($0)).inserted }
    }
}
