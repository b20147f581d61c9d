import Foundation
import Predicates
import SQLiteDriver
import class Predicates.NSComparisonPredicate

/// The functions and collations that the SQL of predicates and sort descriptors uses. Every connection of a store needs them.
enum SQLFunctions {
    /// `cd_match(kind, options, pattern, text)`: 1, 0, or NULL when pattern or text is.
    static let match = "cd_match"
    /// SQLite's own: where a text begins in another, from 1; 0 where it is not there.
    static let position = "instr"

    static func register(on connection: Connection) throws {
        try connection.defineFunction(match, argumentCount: 4, prepare: Matcher.init) { matcher, text in
            text.isNull ? nil : text.withUTF8(matcher.matches)
        }
        for (folding, name) in collations {
            try connection.defineCollation(name) { TextOrder.compare($0, $1, folding: folding) }
        }
        for (kind, name) in localizedCollations {
            try connection.defineCollation(name) { SortComparison.compare(utf8: $0, $1, kind: kind) }
        }
        try registerDerivations(on: connection)
    }

    /// What triggers call. They may where the schema is not trusted.
    private static func registerDerivations(on connection: Connection) throws {
        // NB: the arguments are table, entity, key, attribute and value.
        for name in reports { try connection.defineReport(name, argumentCount: 5, noting: (1, 2)) }
        try connection.defineSchemaFunction(now, argumentCount: 0, isDeterministic: false) { _ in
            .real(Date().timeIntervalSinceReferenceDate)
        }
        for (name, change) in textFunctions {
            try connection.defineSchemaFunction(name, argumentCount: 1) { $0[0].isNull ? .null : .text(change($0[0].string)) }
        }
    }

    /// `cd_canonical(text)`: without case and marks.
    static let canonical = "cd_canonical"
    static let now = "NSCoreDataNow"

    /// NB: SQLite's own `upper` and `lower` know the letters of ASCII only.
    private static let textFunctions: [(String, @Sendable (String) -> String)] = [
        (canonical, { $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) }),
        ("upper", { $0.uppercased() }), ("lower", { $0.lowercased() }),
    ]

    private static let collations: [(TextFolding, String)] = [
        (.caseInsensitive, "cd_c"), (.diacriticInsensitive, "cd_d"), (.caseAndDiacriticInsensitive, "cd_cd"),
    ]

    private static let localizedCollations: [(SortKind, String)] = [
        (.localized, "cd_localized"), (.localizedCaseInsensitive, "cd_localized_c"), (.localizedStandard, "cd_localized_standard"),
    ]

    /// The functions by which the triggers of Apple's Core Data, and those here, tell of the rows that they have written.
    static let reports = [
        "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]

    /// The collation for texts that are compared with these options; nil for the default one.
    static func collation(for options: NSComparisonPredicate.Options) -> String? {
        let folding = folding(of: options)
        return folding == .literal ? nil : "cd_" + letters(of: folding)
    }

    /// The collation for texts that are sorted like this; nil for the default one.
    static func collation(for kind: SortKind) -> String? {
        kind == .caseInsensitive ? "cd_c" : localizedCollations.first { $0.0 == kind }?.1
    }

    static func folding(of options: NSComparisonPredicate.Options) -> TextFolding {
        if options.isEmpty || options.contains(.normalized) { return .literal }
        switch (options.contains(.caseInsensitive), options.contains(.diacriticInsensitive)) {
        case (true, true): return .caseAndDiacriticInsensitive
        case (true, false): return .caseInsensitive
        case (false, true): return .diacriticInsensitive
        case (false, false): return .literal
        }
    }

    /// As in the brackets of a format.
    static func letters(of folding: TextFolding) -> String {
        switch folding {
        case .literal: ""
        case .caseInsensitive: "c"
        case .diacriticInsensitive: "d"
        case .caseAndDiacriticInsensitive: "cd"
        }
    }
}

/// A compiled pattern.
private enum Matcher {
    case text(TextMatcher)
    case regularExpression(RegularExpressionMatcher)

    /// From the first arguments of `cd_match`; nil for a NULL and for a pattern that cannot be compiled.
    init?(_ arguments: [FunctionArgument]) {
        guard !arguments[2].isNull else { return nil }
        let pattern = arguments[2].string
        var options: NSComparisonPredicate.Options = []
        if arguments[1].string.contains("c") { options.insert(.caseInsensitive) }
        if arguments[1].string.contains("d") { options.insert(.diacriticInsensitive) }
        switch arguments[0].string {
        case "begins": self = .text(TextMatcher(kind: .beginsWith, options: options, pattern: pattern))
        case "ends": self = .text(TextMatcher(kind: .endsWith, options: options, pattern: pattern))
        case "contains": self = .text(TextMatcher(kind: .contains, options: options, pattern: pattern))
        case "like": self = .text(TextMatcher(kind: .like, options: options, pattern: pattern))
        default:
            // Planning has compiled it once and reported what is wrong with it.
            guard let matcher = try? RegularExpressionMatcher(pattern: pattern, options: options) else { return nil }
            self = .regularExpression(matcher)
        }
    }

    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .text(let matcher): matcher.matches(text)
        case .regularExpression(let matcher): matcher.matches(text)
        }
    }
}

extension FunctionArgument {
    fileprivate var string: String { withUTF8 { String(decoding: $0, as: UTF8.self) } }
}
