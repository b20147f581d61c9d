import Foundation
import TestSupport
import Testing

@testable import ModelFormat

@Suite("An archive of values")
struct ObjectArchiveTests {
    @Test("is read by Foundation too, where it can")
    func foundation() throws {
        let value = NSDictionary(dictionary: ["a": [1, 2.5, "c"], "d": Date(timeIntervalSinceReferenceDate: 7), "u": Data([1])])
        let data = try ObjectArchiver.data(of: value)
        let classes = [NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self] as [AnyClass]
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? NSDictionary == value)
        let theirs = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        #expect(try ObjectUnarchiver.object(in: theirs) as? NSDictionary == value)
    }

    @Test("keeps truth apart from numbers, and decimals to the last digit")
    func numbers() throws {
        let decimal = try #require(Decimal(string: "12345678901234567890.12345"))
        let list: [Any] = [true, 1, 1.0, NSNumber(value: false), decimal, NSDecimalNumber(decimal: decimal), UInt64.max, Int8(-1)]
        let found = try #require(try ObjectUnarchiver.object(in: ObjectArchiver.data(of: list)) as? [NSNumber])
        #expect(type(of: found[0]) == type(of: NSNumber(value: true)) && type(of: found[1]) != type(of: found[0]))
        #expect(found[3].boolValue == false && type(of: found[3]) == type(of: found[0]))
        #expect((found[4] as? NSDecimalNumber)?.decimalValue == decimal && (found[5] as? NSDecimalNumber)?.decimalValue == decimal)
        #expect(found[6].doubleValue == 0x1p64 && found[7].intValue == -1)
    }

    @Test("is the same for equal dictionaries and sets, whatever order memory holds them in")
    func equals() throws {
        let names = (0..<40).map { "name \($0)" }
        let dictionaries = [40, 4_000].map { names.reduce(into: [String: Int](minimumCapacity: $0)) { $0[$1] = $1.count } }
        let sets = dictionaries.map { $0.keys.reduce(into: Set<String>(minimumCapacity: $0.capacity)) { $0.insert($1) } }
        #expect(Array(dictionaries[0].keys) != Array(dictionaries[1].keys) && Array(sets[0]) != Array(sets[1]))
        for pair in [dictionaries, sets] as [[Any]] {
            #expect(try ObjectArchiver.data(of: pair[0]) == ObjectArchiver.data(of: pair[1]))
        }
    }

    @Test("shares what occurs twice, so that many references cost nothing")
    func sharing() throws {
        // Each level holds the one below twice: 2^40 paths lead to the text.
        var archive = KeyedArchive()
        var node = archive.string("x")
        for _ in 0..<40 { node = archive.array([node, node]) }
        // NB: Foundation copies a nested array whole when one asks for an element, so nobody looks inside.
        let object = try ObjectUnarchiver.object(in: Data(archive.bytes(root: node)))
        #expect((object as AnyObject) is NSArray)
    }

    @Test("with collections in themselves, or too deep, is refused")
    func circles() throws {
        var archive = KeyedArchive()
        let own = archive.reserve()
        archive.fill(own, ["NSArray", "NSObject"], ["NS.objects": .array([own])])
        #expect(throws: ModelFormatError.self) { try ObjectUnarchiver.object(in: Data(archive.bytes(root: own))) }
        var deep = archive.string("x")
        for _ in 0..<300 { deep = archive.array([deep]) }
        #expect(throws: ModelFormatError.self) { try ObjectUnarchiver.object(in: Data(archive.bytes(root: deep))) }
        var nested: Any = 1
        for _ in 0..<300 { nested = [nested] }
        #expect(throws: ModelFormatError.self) { try ObjectArchiver.data(of: nested) }
    }

    @Test("with decimals in a set, which Linux cannot hash, is refused")
    func decimalsInSets() throws {
        var archive = KeyedArchive()
        let decimal = try archive.value(.decimal(1))
        let set = archive.set([decimal])
        #expect(throws: ModelFormatError.self) { try ObjectUnarchiver.object(in: Data(archive.bytes(root: set))) }
    }

    @Test(
        "of classes that are not here, no classes, or that refer in a circle is refused",
        arguments: ["Nothing", "", "$s", "Swift.Int", "NSObject", "So8NSArrayC", "_TtC1a1b", "Foundation.NSLock", "NSError", "ä b"]
    )
    func unknownClasses(name: String) {
        var archive = KeyedArchive()
        let object = archive.object([name, "NSObject"], ["x": .integer(1)])
        let error = #expect(throws: ModelFormatError.self) { try ObjectUnarchiver.object(in: Data(archive.bytes(root: object))) }
        #expect(error?.description.contains("class \(name) is not in this program") == true)
    }

    @Test("is not made of objects that could not be read again")
    func unreadable() {
        for value in [NSError(domain: "d", code: 1), NSObject(), NSLock()] as [Any] {
            #expect(throws: ModelFormatError.self) { try ObjectArchiver.data(of: value) }
            #expect(throws: ModelFormatError.self) { try ObjectArchiver.data(of: [value]) }
        }
    }

    @Test("that is damaged gives a value or an error", arguments: 0..<8)
    func damage(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let value: [String: Any] = [
            "list": [1, 2.5, "c", true, Date(), UUID(), URL(string: "https://example.org") ?? URL(fileURLWithPath: "/"), Decimal(3)]
                as [Any],
            "set": NSSet(array: ["x", "y"]), "ordered": NSOrderedSet(array: [1, 2]), "data": Data([1, 2, 3]),
            "object": NSIndexSet(index: 3),
        ]
        let whole = try ObjectArchiver.data(of: value)
        var errors = 0
        for _ in 0..<500 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do { _ = try ObjectUnarchiver.object(in: damaged) } catch { errors += 1 }
        }
        #expect(errors > 50 && errors < 500)
    }
}
