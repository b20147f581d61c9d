import Foundation
import Predicates
import Testing

@Suite("FUNCTION(operand, 'selector')")
struct MessageTests {
    private let object: [String: Any] = [
        "title": "The Sea", "born": Date(timeIntervalSinceReferenceDate: 1_000), "price": 2.75, "pages": 300, "flags": Data([1, 2]),
        "site": URL(string: "https://example.org/a/b.txt") as Any, "code": UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
        "tags": ["x", "y"],
    ]

    private func holds(_ format: String) throws -> Bool? {
        try NSPredicate(parsing: format, arguments: []).tree.evaluate(object, semantics: .sql)
    }

    @Test(
        "answers as Foundation's values do",
        arguments: [
            "FUNCTION(title, 'length') == 7", "FUNCTION(title, 'lowercaseString') == 'the sea'",
            "FUNCTION(title, 'uppercaseString') == 'THE SEA'",
            "FUNCTION('12 months', 'intValue') == 12", "FUNCTION('2.5', 'doubleValue') == 2.5", "FUNCTION(title, 'description') == title",
            "FUNCTION(title, 'substringToIndex:', 3) == 'The'", "FUNCTION(title, 'substringFromIndex:', 4) == 'Sea'",
            "FUNCTION(title, 'stringByAppendingString:', '!') == 'The Sea!'", "FUNCTION(title, 'hasPrefix:', 'The') == YES",
            "FUNCTION(born, 'timeIntervalSinceReferenceDate') == 1000", "FUNCTION(born, 'timeIntervalSince1970') == 978308200",
            "FUNCTION(born, 'timeIntervalSinceNow') < 0", "FUNCTION(born, 'timeIntervalSinceDate:', born) == 0",
            "FUNCTION(born, 'dateByAddingTimeInterval:', 60) > born", "FUNCTION(born, 'laterDate:', now()) > born",
            "FUNCTION(price, 'intValue') == 2", "FUNCTION(price, 'stringValue') == '2.75'", "FUNCTION(pages, 'doubleValue') == 300.0",
            "FUNCTION(flags, 'length') == 2", "FUNCTION(site, 'host') == 'example.org'", "FUNCTION(site, 'pathExtension') == 'txt'",
            "FUNCTION(code, 'UUIDString') ENDSWITH '01'", "FUNCTION(tags, 'count') == 2", "title.lowercaseString == 'the sea'",
            "born.timeIntervalSinceReferenceDate == 1000", "FUNCTION(FUNCTION(title, 'lowercaseString'), 'length') == 7",
        ]
    )
    func answers(format: String) throws { #expect(try holds(format) == true) }

    @Test(
        "reads the number at the beginning of a text, whatever follows",
        arguments: ["intValue", "integerValue", "longLongValue", "doubleValue", "floatValue"]
    )
    func numbers(selector: String) throws {
        for (text, number) in [("7\u{1F600}", 7), (" -12 \u{1F600}", -12), ("\u{1F600}7", 0), ("\u{1F600}", 0), ("", 0), ("e\u{301}", 0)] {
            let predicate = try NSPredicate(parsing: "FUNCTION(%@, '\(selector)') == %d", arguments: [text, number])
            #expect(try predicate.tree.evaluate(object, semantics: .sql) == true, "\(text)")
        }
        #expect(try holds("FUNCTION('\u{1F600}', 'boolValue') == NO") == true)
    }

    @Test(
        "answers nil of nil, and outside of a text",
        arguments: ["FUNCTION(nothing, 'length')", "FUNCTION(title, 'substringToIndex:', 8)", "FUNCTION(title, 'substringFromIndex:', -1)"]
    )
    func nothing(expression: String) throws { #expect(try holds("\(expression) == nil") == true) }

    @Test(
        "is refused with what could be called",
        arguments: [
            ("FUNCTION(title, 'frobnicate')", "lowercaseString"), ("FUNCTION(born, 'length')", "timeIntervalSinceNow"),
            ("FUNCTION(title, 'substringToIndex:')", "0 arguments"), ("FUNCTION(pages, 'characterAtIndex:', 1)", "stringValue"),
        ]
    )
    func refused(expression: String, hint: String) throws {
        let error = #expect(throws: PredicateEvaluationError.self) { try holds("\(expression) == 1") }
        #expect(error?.description.contains(hint) == true, "\(String(describing: error))")
    }
}
