import Foundation

/// A CSV file as somebody wrote it: columns in their order, rows, and the comments before each.
struct CSVTable {
    struct Row {
        /// Lines that begin with `#`, and empty ones, as they stand before the row.
        var comments: [String] = []
        /// By column; nil for a field without anything in it, not even quotes.
        var fields: [String: String]
    }

    var columns: [String] = []
    var headerComments: [String] = []
    var rows: [Row] = []
    var footerComments: [String] = []
    /// As the file's own lines end.
    private var lineEnd = "\n"

    init() {}

    init(_ text: String) throws {
        var parser = Parser(text)
        if text.unicodeScalars.contains("\r") { lineEnd = "\r\n" }
        while let line = try parser.next() {
            switch line {
            case .comment(let text): footerComments.append(text)
            case .record(let fields) where columns.isEmpty:
                columns = fields.map { $0 ?? "" }
                (headerComments, footerComments) = (footerComments, [])
            case .record(let fields):
                guard fields.count <= columns.count else {
                    throw CocoaError(
                        .fileReadCorruptFile,
                        userInfo: [NSLocalizedDescriptionKey: "Row \(rows.count + 1) has too many fields."]
                    )
                }
                var row = Row(comments: footerComments, fields: [:])
                for (column, field) in zip(columns, fields) { row.fields[column] = field }
                rows.append(row)
                footerComments = []
            }
        }
    }

    var text: String {
        var lines = headerComments
        if !columns.isEmpty { lines.append(columns.map(Self.quoted).joined(separator: ",")) }
        for row in rows {
            lines += row.comments
            lines.append(columns.map { row.fields[$0].map(Self.quoted) ?? "" }.joined(separator: ","))
        }
        return (lines + footerComments).map { $0 + lineEnd }.joined()
    }

    private static func quoted(_ field: String) -> String {
        // By scalars, as the parser reads: a quote and an accent behind it are one character.
        let scalars = field.unicodeScalars
        let isPlain = !field.isEmpty && scalars.allSatisfy { !",\"\r\n".unicodeScalars.contains($0) } && scalars.first != "#"
        if isPlain { return field }
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in scalars { quoted.append(contentsOf: scalar == "\"" ? [scalar, scalar] : [scalar]) }
        quoted.append("\"")
        return String(quoted)
    }

    private enum Line {
        case comment(String)
        case record([String?])
    }

    /// Takes the text scalar by scalar: a carriage return and a line feed are one character to Swift.
    private struct Parser {
        private let scalars: [Unicode.Scalar]
        private var index = 0

        init(_ text: String) { scalars = Array(text.unicodeScalars) }

        mutating func next() throws -> Line? {
            guard index < scalars.count else { return nil }
            if scalars[index] == "#" || scalars[index...].prefix(2).contains("\n") && "\r\n".unicodeScalars.contains(scalars[index]) {
                return .comment(restOfLine())
            }
            var fields: [String?] = []
            while true {
                fields.append(try field())
                guard index < scalars.count else { return .record(fields) }
                let separator = scalars[index]
                index += 1
                if separator == "\n" { return .record(fields) }
                if separator != "," { throw Self.corrupt("Something stands between a field's quote and the comma behind it.") }
            }
        }

        private mutating func restOfLine() -> String {
            let rest = scalars[index...].prefix { $0 != "\n" }
            index = rest.endIndex + 1
            return String(String.UnicodeScalarView(rest.last == "\r" ? rest.dropLast() : rest))
        }

        private mutating func field() throws -> String? {
            guard index < scalars.count, scalars[index] == "\"" else {
                let field = scalars[index...].prefix { $0 != "," && $0 != "\n" }
                index = field.endIndex
                let text = String(String.UnicodeScalarView(field.last == "\r" ? field.dropLast() : field))
                return text.isEmpty ? nil : text
            }
            index += 1
            var text = String.UnicodeScalarView()
            while index < scalars.count {
                let scalar = scalars[index]
                index += 1
                guard scalar == "\"" else { text.append(scalar); continue }
                guard index < scalars.count, scalars[index] == "\"" else {
                    if index < scalars.count, scalars[index] == "\r" { index += 1 }
                    return String(text)
                }
                text.append("\"")
                index += 1
            }
            throw Self.corrupt("A quote is never closed.")
        }

        private static func corrupt(_ text: String) -> CocoaError {
            CocoaError(.fileReadCorruptFile, userInfo: [NSLocalizedDescriptionKey: text])
        }
    }
}
