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
        let changes = table.changeCount
        table.add(3, to: 0)
        #expect(table.range(1) == 5..<6 && table.index(ofMember: 4) == 0 && table.index(ofMember: 5) == 1)
        #expect(table.changeCount == changes)
        table.insert("a", at: 0)
        table.add(1, to: 0)
        table.add(-1, to: 2)
        table.removeEmpty()
        #expect(table.names == ["a", "b"] && table.index(named: "b") == 1 && table.index(named: "d") == nil)
        #expect(table.sections.map(\.count) == [1, 5] && table.changeCount > changes)
    }
}
