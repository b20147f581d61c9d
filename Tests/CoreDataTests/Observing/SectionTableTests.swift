import Testing

@testable import CoreData

@Suite("The sections of a list of results")
struct SectionTableTests {
    @Test("are where the counts before them say, whatever comes, goes and grows", arguments: [1, 2, 3, 64, 100])
    func sums(_ count: Int) {
        var random = SeededGenerator(UInt64(count))
        var counts = (0..<count).map { _ in Int.random(in: 1...5, using: &random) }
        var sums = PrefixSums(counts)
        for _ in 0..<200 {
            let index = Int.random(in: 0..<count, using: &random)
            let difference = Int.random(in: (1 - counts[index])...3, using: &random)
            counts[index] += difference
            sums.add(difference, at: index)
            #expect(sums.counts == counts)
            #expect((0...count).map { sums.sum(before: $0) } == (0...count).map { counts[..<$0].reduce(0, +) })
            let places = counts.enumerated().flatMap { Array(repeating: $0, count: $1) }
            #expect(places.indices.map { sums.index(ofPlace: $0) } == places)
        }
    }

    @Test("come and go by name")
    func names() {
        var table = SectionTable([ResultsSection(name: "b", count: 2), ResultsSection(name: "d", count: 1)])
        table.add(3, to: 0)
        #expect(table.range(1) == 5..<6 && table.index(ofMember: 4) == 0 && table.index(ofMember: 5) == 1)
        table.insert([("a", 0)])
        table.add(1, to: 0)
        table.add(-1, to: 2)
        table.removeEmpty()
        #expect(table.names == ["a", "b"] && table.index(named: "b") == 1 && table.index(named: "d") == nil)
        #expect(table.sections.map(\.count) == [1, 5])
    }

    @Test("are found by name wherever they come and go, one by one and many at once", arguments: [1, 7])
    func comingAndGoing(_ runLength: Int) {
        var random = SeededGenerator(UInt64(runLength))
        var (table, expected) = (SectionTable(), [String]())
        for round in 0..<300 {
            // Again and again between the same two, too, until there is no number left between theirs.
            let place = round < 100 ? min(1, expected.count) : Int.random(in: 0...expected.count, using: &random)
            let places = (0..<runLength).map { min(place + $0 / 3, expected.count) }
            let new = places.enumerated().map { (name: "\(round).\($0)", index: $1) }
            table.insert(new)
            for (offset, section) in new.enumerated() { expected.insert(section.name, at: section.index + offset) }
            for section in new { table.add(1, to: table.index(named: section.name) ?? 0) }
            if round % 5 == 4 {
                let name = expected.remove(at: Int.random(in: expected.indices, using: &random))
                table.add(-1, to: table.index(named: name) ?? 0)
                table.removeEmpty()
            }
            #expect(table.names == expected)
            #expect(expected.indices.allSatisfy { table.index(named: expected[$0]) == $0 })
        }
        #expect(table.sections.allSatisfy { $0.count == 1 })
    }
}
