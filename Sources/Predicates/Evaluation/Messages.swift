import Foundation

/// The messages that Foundation's values answer in predicates: `FUNCTION(published, 'timeIntervalSinceNow')`, and without arguments as keys of a
/// path, `title.length`. Named as Apple names the methods.
enum Messages {
    /// - Parameter arguments: as many as the selector has colons.
    typealias Body<Receiver> = @Sendable (_ receiver: Receiver, _ arguments: [Value]) -> Any?

    /// What a value answers; a nil one answers nil to everything.
    ///
    /// - Throws: `PredicateEvaluationError.unsupported`, with the selectors that are known, where there is no such answer.
    static func answer(_ selector: String, of receiver: Any?, _ arguments: [Any?]) throws -> Any? {
        let value = Value(receiver)
        if value.isNull { return nil }
        let names = selectors(of: value)
        guard names.contains(selector) else {
            throw PredicateEvaluationError.unsupported(
                "FUNCTION cannot call \"\(selector)\" of \(receiver.map { "\(type(of: $0))" } ?? "nil"). What it answers: "
                    + (names.isEmpty ? "nothing" : names.joined(separator: ", "))
            )
        }
        guard arguments.count == selector.count(where: { $0 == ":" }) else {
            throw PredicateEvaluationError.unsupported("FUNCTION cannot call \"\(selector)\" with \(arguments.count) arguments")
        }
        return flattened(call(selector, of: value, arguments.map { Value($0) }) ?? nil)
    }

    /// What a value answers where it is asked for a key; `.none` where it knows no such key.
    static func value(of key: String, in value: Value) -> Any?? { key.hasSuffix(":") ? .none : call(key, of: value, []) }

    private static func call(_ selector: String, of value: Value, _ arguments: [Value]) -> Any?? {
        switch value {
        case .text(let text): texts[selector].map { $0(text, arguments) }
        case .date(let date): dates[selector].map { $0(date, arguments) }
        case .number(let number): numbers[selector].map { $0(number, arguments) }
        case .data(let data): blobs[selector].map { $0(data, arguments) }
        case .uuid(let uuid): uuids[selector].map { $0(uuid, arguments) }
        case .url(let url): urls[selector].map { $0(url, arguments) }
        case .list(let elements), .set(let elements): lists[selector].map { $0(elements, arguments) }
        case .null, .object: .none
        }
    }

    private static func selectors(of value: Value) -> [String] {
        switch value {
        case .text: texts.keys.sorted()
        case .date: dates.keys.sorted()
        case .number: numbers.keys.sorted()
        case .data: blobs.keys.sorted()
        case .uuid: uuids.keys.sorted()
        case .url: urls.keys.sorted()
        case .list, .set: lists.keys.sorted()
        case .null, .object: []
        }
    }
}

/// What each kind of value answers.
extension Messages {
    private static let texts: [String: Body<String>] = [
        "length": { text, _ in text.utf16.count },
        "uppercaseString": { text, _ in text.uppercased() },
        "lowercaseString": { text, _ in text.lowercased() },
        "capitalizedString": { text, _ in text.capitalized },
        "integerValue": { text, _ in numeral(text).integerValue },
        "intValue": { text, _ in Int(numeral(text).intValue) },
        "longLongValue": { text, _ in Int(numeral(text).longLongValue) },
        "doubleValue": { text, _ in numeral(text).doubleValue },
        "floatValue": { text, _ in numeral(text).doubleValue },
        "boolValue": { text, _ in numeral(text).boolValue },
        "lastPathComponent": { text, _ in (text as NSString).lastPathComponent },
        "pathExtension": { text, _ in (text as NSString).pathExtension },
        "description": { text, _ in text },
        "stringByAppendingString:": { text, arguments in arguments[0].text.map { text + $0 } },
        "substringFromIndex:": { text, arguments in part(of: text, arguments[0]) { $0.dropFirst($1) } },
        "substringToIndex:": { text, arguments in part(of: text, arguments[0]) { $0.prefix($1) } },
        "hasPrefix:": { text, arguments in arguments[0].text.map { text.utf8.starts(with: $0.utf8) } },
        "hasSuffix:": { text, arguments in arguments[0].text.map { text.utf8.reversed().starts(with: $0.utf8.reversed()) } },
        "isEqualToString:": { text, arguments in arguments[0].text.map { text.utf8.elementsEqual($0.utf8) } },
    ]

    private static let dates: [String: Body<Date>] = [
        "timeIntervalSinceNow": { date, _ in date.timeIntervalSinceNow },
        "timeIntervalSinceReferenceDate": { date, _ in date.timeIntervalSinceReferenceDate },
        "timeIntervalSince1970": { date, _ in date.timeIntervalSince1970 },
        "description": { date, _ in date.description },
        "timeIntervalSinceDate:": { date, arguments in arguments[0].date.map { date.timeIntervalSince($0) } },
        "dateByAddingTimeInterval:": { date, arguments in arguments[0].number.map { date.addingTimeInterval($0.double) } },
        "earlierDate:": { date, arguments in arguments[0].date.map { min(date, $0) } },
        "laterDate:": { date, arguments in arguments[0].date.map { max(date, $0) } },
        "isEqualToDate:": { date, arguments in arguments[0].date.map { date == $0 } },
    ]

    private static let numbers: [String: Body<ExactNumber>] = [
        "integerValue": { number, _ in whole(number) },
        "intValue": { number, _ in whole(number) },
        "longLongValue": { number, _ in whole(number) },
        "doubleValue": { number, _ in number.double },
        "floatValue": { number, _ in number.double },
        "boolValue": { number, _ in number.double != 0 },
        "stringValue": { number, _ in number.description },
        "description": { number, _ in number.description },
    ]

    private static let urls: [String: Body<URL>] = [
        "absoluteString": { url, _ in url.absoluteString },
        "scheme": { url, _ in url.scheme },
        "host": { url, _ in url.host },
        "path": { url, _ in url.path },
        "lastPathComponent": { url, _ in url.lastPathComponent },
        "pathExtension": { url, _ in url.pathExtension },
        "description": { url, _ in url.absoluteString },
    ]

    private static let blobs: [String: Body<Data>] = [
        "length": { data, _ in data.count },
        "description": { data, _ in data.description },
    ]

    private static let uuids: [String: Body<UUID>] = [
        "UUIDString": { uuid, _ in uuid.uuidString },
        "description": { uuid, _ in uuid.uuidString },
    ]

    private static let lists: [String: Body<[Any?]>] = [
        "count": { elements, _ in elements.count },
        "firstObject": { elements, _ in elements.first ?? nil },
        "lastObject": { elements, _ in elements.last ?? nil },
    ]

    /// The part of a text that may be read as a number.
    ///
    /// NB: Foundation traps on Linux where it meets half of a surrogate pair; no number goes on behind one.
    private static func numeral(_ text: String) -> NSString {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix { $0.value <= 0xFFFF })) as NSString
    }

    /// Cut towards zero; nil for what no integer can hold.
    private static func whole(_ number: ExactNumber) -> Any? {
        number.integer.map { Int($0) } ?? Int(exactly: number.double.rounded(.towardZero))
    }

    /// Counted as Foundation counts; nil outside of the text.
    private static func part(
        of text: String,
        _ index: Value,
        _ cut: (String.UTF16View, Int) -> Substring.UTF16View
    ) -> Any? {
        guard let index = index.number?.integer, (0...Int64(text.utf16.count)).contains(index) else { return nil }
        return String(cut(text.utf16, Int(index)))
    }
}

extension Value {
    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var date: Date? { if case .date(let date) = self { date } else { nil } }
    fileprivate var number: ExactNumber? { if case .number(let number) = self { number } else { nil } }
}
