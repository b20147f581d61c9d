import Foundation
import Testing

@testable import ModelFormat

@Suite("What an archive holds")
struct ArchivedContentTests {
    @Test("is said without the classes of its objects: texts, numbers, dates and collections as such")
    func values() throws {
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        let value: [String: Any] = ["list": [1, true, "é"], "date": date, "data": Data([1, 2]), "url": URL(fileURLWithPath: "/a")]
        let content = try #require(ArchivedContent(ObjectArchiver.data(of: value)))
        #expect(
            content
                == .entries([
                    "list": .list([.integer(1), .bool(true), .text("é")]), "date": .date(1.5), "data": .data(Data([1, 2])),
                    "url": .text("file:///a"),
                ])
        )
    }

    @Test("of an unknown class is its name and what it encoded, and ends where it contains itself")
    func objects() throws {
        var archive = KeyedArchive()
        let color = archive.reserve()
        archive.fill(color, ["UIColor", "NSObject"], ["red": .real(0.5), "self": color, "name": archive.string("sand")])
        let content = try #require(ArchivedContent(Data(archive.bytes(root: color))))
        #expect(
            content
                == .object(
                    className: "UIColor",
                    ["red": .real(0.5), "self": .object(className: "UIColor", [:]), "name": .text("sand")]
                )
        )
    }

    @Test("is said of property lists too, and of nothing else")
    func others() throws {
        let list = try PropertyListSerialization.data(fromPropertyList: ["a": [1, 2]], format: .binary, options: 0)
        #expect(ArchivedContent(list) == .entries(["a": .list([.integer(1), .integer(2)])]))
        #expect(ArchivedContent(Data("a text".utf8)) == nil)
        #expect(ArchivedContent(list.prefix(20)) == nil)
    }

    // * Each of 40 arrays has the next one twice.
    @Test("is not said where it is more than can be")
    func bomb() throws {
        var archive = KeyedArchive()
        var node = archive.string("end")
        for _ in 0..<40 { node = archive.array([node, node]) }
        #expect(ArchivedContent(Data(archive.bytes(root: node))) == nil)
    }
}
