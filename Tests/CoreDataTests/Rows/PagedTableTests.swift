import Testing

@testable import CoreData

@Suite("A table by key")
struct PagedTableTests {
    private func entry(_ number: Int) -> UnsafeRawPointer {
        // Any number but 0 is an address that is stored and never read.
        UnsafeRawPointer(bitPattern: number)!
    }

    @Test("finds nothing under the other keys of a page that another part of the table was emptied of", arguments: [7, 1 << 40])
    func reusedPage(other: Int64) {
        var table = PagedTable()
        defer { table.deallocate() }
        for round in 1...3 {
            for key in Int64(512)..<1024 { table.insert(key, entry(round)) }
            for key in Int64(512)..<1024 { table.remove(key, ifValue: entry(round)) }
            // * The emptied page serves another range of keys.
            table.insert(other, entry(9))
            #expect(table.find(other) == entry(9) && table.count == 1)
            #expect((0..<512).allSatisfy { other & ~511 + $0 == other || table.find(other & ~511 + $0) == nil })
            #expect((512..<1024).allSatisfy { table.find($0) == nil })
            table.remove(other, ifValue: entry(9))
            #expect(table.find(other) == nil && table.count == 0)
        }
    }

    @Test("that begins with large keys finds smaller and larger ones too", arguments: [1 << 21, 1 << 40] as [Int64])
    func largeKeys(first: Int64) {
        var table = PagedTable()
        defer { table.deallocate() }
        let keys = [first, first + 1, first - 1, first + 100_000, 1, 511, first / 2, first * 4, first - 5000]
        for _ in 1...2 {
            for (index, key) in keys.enumerated() { table.insert(key, entry(index + 1)) }
            #expect(table.count == keys.count)
            for (index, key) in keys.enumerated() { #expect(table.find(key) == entry(index + 1)) }
            #expect(table.find(first + 2) == nil && table.find(2) == nil && table.find(-first) == nil)
            var found: Set<UnsafeRawPointer> = []
            table.forEach { found.insert($0) }
            #expect(found.count == keys.count)
            // * Empty, it begins anew.
            for (index, key) in keys.enumerated() { table.remove(key, ifValue: entry(index + 1)) }
            #expect(table.count == 0 && keys.allSatisfy { table.find($0) == nil })
        }
    }

    @Test("keeps an entry that somebody else has replaced meanwhile")
    func replaced() {
        var table = PagedTable()
        defer { table.deallocate() }
        table.insert(3, entry(1))
        table.insert(3, entry(2))
        table.remove(3, ifValue: entry(1))
        #expect(table.find(3) == entry(2) && table.count == 1)
    }
}
