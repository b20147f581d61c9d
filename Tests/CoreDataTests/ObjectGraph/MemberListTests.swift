import Testing

@testable import CoreData

@Suite("A list of members")
struct MemberListTests {
    let library: Library

    init() throws { library = try Library() }

    @Test("is what an array would be, short and long, whatever is put in, taken out and moved", arguments: 1...20 as ClosedRange<UInt64>)
    func likeAnArray(seed: UInt64) {
        var random = SeededGenerator(seed)
        let tags = (0..<24).map { _ in Tag(context: library.context) }
        var (list, expected): (MemberList, [NSManagedObject]) = (MemberList(), [])
        for _ in 0..<200 {
            let tag = tags[Int.random(in: 0..<(seed.isMultiple(of: 2) ? 4 : 24), using: &random)]
            let isIn = expected.contains(tag)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                #expect(list.append(tag) == !isIn)
                if !isIn { expected.append(tag) }
            case 2 where !isIn:
                let position = Int.random(in: 0...expected.count, using: &random)
                list.insert(tag, at: position)
                expected.insert(tag, at: position)
            default:
                #expect(list.remove(tag) == isIn)
                expected.removeAll { $0 === tag }
            }
            #expect(list.array == expected && list.count == expected.count && list.isEmpty == expected.isEmpty)
            #expect(list.firstMember === expected.first && tags.allSatisfy { list.contains($0) == expected.contains($0) })
        }
    }

    @Test("of many members is what an array would be, by index too", arguments: 1...6 as ClosedRange<UInt64>)
    func many(seed: UInt64) {
        var random = SeededGenerator(seed)
        let tags: [NSManagedObject] = (0..<900).map { _ in Tag(context: library.context) }
        var (list, expected): (MemberList, [NSManagedObject]) = (MemberList(tags.prefix(600)), Array(tags.prefix(600)))
        for step in 0..<1200 {
            let tag = tags[Int.random(in: 0..<tags.count, using: &random)]
            let isIn = list.contains(tag)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where !isIn, 1 where !isIn:
                // * In front, at the end, mostly at one place.
                let index = [0, list.count, min(300, list.count), Int.random(in: 0...list.count, using: &random)][Int(step % 4)]
                list.insert(tag, at: index)
                expected.insert(tag, at: index)
            case 2:
                #expect(list.append(tag) == !isIn)
                if !isIn { expected.append(tag) }
            default:
                #expect(list.index(of: tag) == expected.firstIndex { $0 === tag })
                #expect(list.remove(tag) == isIn)
                expected.removeAll { $0 === tag }
            }
            let index = Int.random(in: 0..<expected.count, using: &random)
            #expect(list[index] === expected[index] && list.index(of: expected[index]) == index && list.count == expected.count)
        }
        #expect(list.array == expected && Array(list) == expected)
        for tag in expected { list.remove(tag) }
        #expect(list.isEmpty && list.firstMember == nil)
    }

    @Test("is a value: a copy keeps what it had", arguments: [1, 2, 3, 12])
    func copies(count: Int) {
        let tags = (0..<count).map { _ in Tag(context: library.context) }
        var list = MemberList(tags)
        let copy = list
        list.remove(tags[0])
        list.append(Tag(context: library.context))
        #expect(copy.array == tags && list.count == count)
    }

    @Test("holds its members as long as it has them", arguments: [0, 1, 4])
    func lifetimes(before: Int) throws {
        var list = MemberList((0..<before).map { _ in Tag(context: library.context) })
        weak var held: Tag?
        do {
            let tag = Tag(context: library.context)
            library.context.delete(tag)
            library.context.processPendingChanges()
            list.append(tag)
            held = tag
        }
        library.context.reset()
        #expect(held != nil)
        try list.remove(#require(held))
        #expect(held == nil)
    }
}
