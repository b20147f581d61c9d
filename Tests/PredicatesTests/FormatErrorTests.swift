import Foundation
import Predicates
import Testing

@Suite("A malformed format")
struct FormatErrorTests {
    /// Formats, where they go wrong, and what is said about it.
    static let malformed: [(String, Int, String)] = [
        ("", 0, "expected a value, found the end"),
        ("   ", 3, "expected a value, found the end"),
        ("name", 4, "expected an operator such as == after the value at offset 0, found the end"),
        ("a == ", 5, "expected a value, found the end"),
        ("a ==", 4, "expected a value, found the end"),
        ("== 1", 0, "expected a value, found '=='"),
        ("a == 1 b", 7, "expected AND, OR or the end, found 'b'"),
        ("a == 1 AND", 10, "expected a value, found the end"),
        ("a == 1 AND b", 12, "expected an operator such as == after the value at offset 11, found the end"),
        ("a == 1 == 2", 0, "expected a value, found a predicate"),
        ("(a == 1", 7, "expected ')' to close the parenthesis, found the end"),
        ("a == 1)", 6, "expected AND, OR or the end, found ')'"),
        ("(a == 1) + 2 == 3", 1, "expected a value, found a predicate"),
        ("a == 'x", 5, "expected ' to end the string that begins here"),
        ("a == 'x\\", 5, "expected ' to end the string that begins here"),
        ("a == '\\u12'", 8, "expected four hexadecimal digits that name a character after '\\u'"),
        ("a == '\\ud800'", 8, "expected four hexadecimal digits that name a character after '\\u'"),
        ("a == {1, 2", 10, "expected '}' or ',' in the list, found the end"),
        ("a == {1,}", 8, "expected a value, found '}'"),
        ("a BETWEEN {1}", 10, "expected two bounds such as {1, 10} after BETWEEN"),
        ("a BETWEEN 1", 10, "expected two bounds such as {1, 10} after BETWEEN"),
        ("a ==[x] 1", 5, "expected options out of c, d, n and l, found 'x'"),
        ("a ==[c 1", 7, "expected ']' after the options, found 1"),
        ("ANY a", 5, "expected a comparison operator such as ==, found the end"),
        ("NOT a", 5, "expected an operator such as == after the value at offset 4, found the end"),
        ("a NOT IN {1}", 2, "expected an operator such as == after the value at offset 0, found 'NOT'; write NOT (… IN …)"),
        ("a. == 1", 3, "expected a key after '.', found '=='"),
        ("a == and", 5, "expected a value, found the keyword 'and'; write #and for a key of that name"),
        ("a == $", 6, "expected a variable's name after '$'"),
        ("a == #1", 6, "expected a key after '#'"),
        ("a == @", 6, "expected a collection operator such as @count after '@'"),
        ("a == frob(1)", 5, "there is no function 'frob'"),
        ("a == sqrt(1, 2)", 5, "'sqrt' cannot take 2 arguments"),
        ("a == SUBQUERY(b, x, x == 1)", 17, "expected a variable such as $x, found 'x'"),
        ("a == TERNARY(b, 1, 2)", 14, "expected an operator such as == after the value at offset 13, found ','"),
        ("a == FUNCTION(b)", 5, "FUNCTION takes a target, a selector in quotation marks and its arguments"),
        (
            "a IN FETCH(%@, %@, NO)", 5,
            "no text can FETCH here: fetch before, and give what comes of it as an argument; a mapping's sourceExpression of all objects may be left out"
        ),
        ("a == CAST(b)", 5, "CAST takes a value and the name of a class in quotation marks"),
        ("a[ == 1", 3, "expected a value, found '=='"),
        ("a == 1e999", 5, "1e999 is out of range"),
        ("a == 0xFFFFFFFFFFFFFFFFF", 5, "'0xFFFFFFFFFFFFFFFFF' is not a number of base 16 that fits 64 bits"),
        ("a == 0b12", 5, "'0b12' is not a number of base 2 that fits 64 bits"),
        ("a == “x”", 5, "'“' means nothing here"),
        ("a == %y", 5, "'%y' is not a conversion of the format language"),
        (
            "a == 1 %% 2", 7,
            "'%%' is not a conversion of the format language: a percent sign stands for itself only between quotation marks"
        ),
        ("größe == é ;", 11, "';' means nothing here"),
        ("\u{1F469}\u{200D}\u{1F469} == 1", 0, "'\u{1F469}' means nothing here"),
        ("a == 1\0", 6, "'\0' means nothing here"),
    ]

    @Test("says where it goes wrong and what was expected there", arguments: malformed)
    func message(format: String, offset: Int, reason: String) throws {
        let error = #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: format) }
        #expect(error == PredicateFormatError(format: format, offset: offset, reason: reason))
    }

    static let mismatched: [(String, [(any Sendable)?], Int, String)] = [
        ("a == %@", [], 5, "there is no argument for '%@': only 0 given"),
        ("a == %@ AND b == %d", [1], 17, "there is no argument for '%d': only 1 given"),
        ("a == 1", [1, 2], 6, "2 arguments given, the format uses 0"),
        ("a == '%@'", ["x"], 9, "1 argument given, the format uses 0; in quotation marks %@ is text, and no place for an argument"),
        ("a == %d", ["x"], 5, "'%d' takes an integer, argument 1 is String"),
        ("a == %ld", [1.5], 5, "'%d' takes an integer, argument 1 is Double"),
        ("a == %d", [nil], 5, "'%d' takes an integer, argument 1 is nil"),
        ("a == %f", ["x"], 5, "'%f' takes a number, argument 1 is String"),
        ("%K == 1", [nil], 0, "'%K' takes a key path as a String, argument 1 is nil"),
        ("%K == 1", [3], 0, "'%K' takes a key path as a String, argument 1 is Int"),
        ("a == %c", ["ab"], 5, "'%c' takes a character, argument 1 is String"),
        ("a == %s", [3], 5, "'%s' takes a String, argument 1 is Int"),
        ("%K == 1", [""], 0, "'%K' takes a key path as a String, argument 1 is empty"),
    ]

    @Test("is also one whose arguments do not fit", arguments: mismatched.indices)
    func arguments(index: Int) throws {
        let (format, arguments, offset, reason) = Self.mismatched[index]
        let error = #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: format, arguments: arguments.map { $0 }) }
        #expect(error == PredicateFormatError(format: format, offset: offset, reason: reason))
    }

    static let bottomless: [String] = [
        String(repeating: "(", count: 100_000),
        String(repeating: "(", count: 100_000) + "a == 1" + String(repeating: ")", count: 100_000),
        String(repeating: "NOT ", count: 10_000) + "a == 1",
        String(repeating: "!", count: 10_000) + "a == 1",
        "a == " + String(repeating: "- ", count: 10_000) + "b",
        "a == " + String(repeating: "~", count: 10_000) + "b",
        "a == " + String(repeating: "{", count: 10_000),
        "a == " + String(repeating: "abs(", count: 10_000),
        "a == " + String(repeating: "SUBQUERY(b, $x, c == ", count: 10_000),
        "a == " + String(repeating: "1 + ", count: 10_000) + "1",
        "a == " + String(repeating: "1 ** ", count: 10_000) + "1",
        "a == b" + String(repeating: "[0]", count: 10_000),
        "a == b" + String(repeating: " UNION b", count: 10_000),
    ]

    @Test("may nest without end on a thread with a small stack", arguments: bottomless.indices)
    func depth(index: Int) {
        let error = onSmallStack { #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: Self.bottomless[index]) } }
        #expect(error?.reason == "nested more than 200 levels deep")
    }

    @Test("is not one that goes on and on at one level")
    func width() throws {
        let many = (0..<20_000).map { "a == \($0)" }.joined(separator: " OR ")
        let predicate = try NSPredicate(parsing: many)
        #expect((predicate as? NSCompoundPredicate)?.subpredicates.count == 20_000)
        #expect(predicate.evaluate(with: ["a": 19_999]))
        let path = (0..<20_000).map { "k\($0)" }.joined(separator: ".")
        #expect(try NSExpression(parsing: path).keyPath == path)
    }

    @Test("that is just not too deep can be walked on a small stack")
    func walk() throws {
        let sum = String(repeating: "(1 + ", count: 60) + "a" + String(repeating: ")", count: 60)
        let format = String(repeating: "NOT (", count: 30) + "62 > \(sum)" + String(repeating: ")", count: 30)
        let holds = onSmallStack {
            let predicate = NSPredicate(format: format)
            return predicate.evaluate(with: ["a": 1]) && !predicate.printedFormat.isEmpty && predicate.isEqual(NSPredicate(format: format))
        }
        #expect(holds)
    }
}

/// Runs on a thread of 2 MiB, a quarter of the usual size.
func onSmallStack<Result>(_ body: @escaping @Sendable () -> Result) -> Result {
    // Written before the semaphore is signalled and read after, never at once.
    nonisolated(unsafe) var result: Result?
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        result = body()
        done.signal()
    }
    thread.stackSize = 2048 * 1024
    thread.start()
    done.wait()
    return result!
}
