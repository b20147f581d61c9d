import Foundation
import TestSupport

/// The names that the sources of a folder declare, by type, as documentation writes them: `fetch(_:)`.
struct DeclaredNames {
    private(set) var membersByType: [String: [String]] = [:]
    /// What each `@available` says instead.
    private(set) var messages: [String] = []

    init(in folder: URL) throws {
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            add(try String(contentsOf: file, encoding: .utf8))
        }
    }

    private mutating func add(_ source: String) {
        messages += source.matches(of: /message: "([^"]*)"/).map { String($0.1) }
        var type = ""
        for match in source.matches(of: /(?m)^( *)(.*?\b(class|struct|enum|protocol|extension|typealias|func|var|case|init)\b.*)$/) {
            let (line, kind) = (match.2, match.3)
            guard match.1.isEmpty else {
                if match.1.count == 4, !line.hasPrefix("///") { note(Self.member(source[match.2.startIndex...]), of: type) }
                continue
            }
            guard !line.hasPrefix("///"), !line.contains("func ") else { continue }
            type = Self.word(after: String(kind), in: line).replacingOccurrences(of: "Notification.Name", with: "NSNotification.Name")
            if kind != "extension" { note(type, of: type) }
        }
    }

    private mutating func note(_ name: String, of type: String) {
        // A requirement and its default are one name.
        let isDefault = type.hasSuffix("Delegate") && membersByType[type]?.contains(name) == true
        if !isDefault { membersByType[type, default: []].append(name) }
    }

    private static func word(after word: String, in line: Substring) -> String {
        let rest = line.components(separatedBy: word + " ").dropFirst().first ?? ""
        return String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" })
    }

    /// The name of the member whose declaration the text begins with.
    private static func member(_ text: Substring) -> String {
        guard let start = text.firstMatch(of: /\b(?:func |var |case |class (?!func|var)|(?=init\b))(\w+)\??(?:<[^>]*>)?/) else { return "" }
        let name = String(start.1)
        guard text[start.range.upperBound...].first == "(", !start.0.hasPrefix("var"), !start.0.hasPrefix("case") else { return name }
        return name + "(" + labels(text[start.range.upperBound...].dropFirst()).map { $0 + ":" }.joined() + ")"
    }

    /// The labels of a list of parameters that the text begins with.
    private static func labels(_ text: Substring) -> [String] {
        var (parameters, depth) = ([""], 0)
        for character in text {
            if character == ")", depth == 0 { break }
            if "([<".contains(character) { depth += 1 }
            if ")]>".contains(character) { depth -= 1 }
            if character == ",", depth == 0 { parameters.append("") } else { parameters[parameters.count - 1].append(character) }
        }
        return parameters.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
            .map { String($0.prefix { $0 != " " && $0 != ":" }) }
    }
}
