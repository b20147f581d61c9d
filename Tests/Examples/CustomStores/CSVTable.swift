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
    /// As the file's own first line ends.
    private var lineEnd = "\n"
    /// Some editors write it at the start of a file, and look for it there.
    private static let byteOrderMark = Data([0xef, 0xbb, 0xbf])
    private var hasByteOrderMark = false

    init() {}

    init(contentsOf url: URL) throws { try self.init(Data(contentsOf: url)) }

    init(_ data: Data) throws {
        hasByteOrderMark = data.starts(with: Self.byteOrderMark)
        guard let text = String(validating: data.dropFirst(hasByteOrderMark ? Self.byteOrderMark.count : 0), as: UTF8.self) else {
            throw Self.corrupt("The text is not in UTF-8.")
        }
        try read(text)
    }

    private static func corrupt(_ text: String) -> CocoaError {
        CocoaError(.fileReadCorruptFile, userInfo: [NSLocalizedDescriptionKey: text])
    }

    private mutating func read(_ text: String) throws {
        var parser = Parser(text)
        defer { lineEnd = parser.firstLineEnd ?? "\n" }
        while let line = try parser.next() {
            switch line {
            case .comment(let text): footerComments.append(text)
            case .record(let fields) where columns.isEmpty:
                columns = try Self.columns(fields.map { $0 ?? "" })
                (headerComments, footerComments) = (footerComments, [])
            case .record(let fields):
                guard fields.count <= columns.count else { throw Self.corrupt("Row \(rows.count + 1) has too many fields.") }
                var row = Row(comments: footerComments, fields: [:])
                for (column, field) in zip(columns, fields) { row.fields[column] = field }
                rows.append(row)
                footerComments = []
            }
        }
    }

    private static func columns(_ names: [String]) throws -> [String] {
        var known: Set<String> = []
        for name in names where !known.insert(name).inserted { throw corrupt("Two columns are called “\(name)”.") }
        return names
    }

    var data: Data { (hasByteOrderMark ? Self.byteOrderMark : Data()) + Data(text.utf8) }

    private var text: String {
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
        private(set) var firstLineEnd: String?

        init(_ text: String) { scalars = Array(text.unicodeScalars) }

        mutating func next() throws -> Line? {
            guard index < scalars.count else { return nil }
            if scalars[index] == "#" || lengthOfLineEnd(at: index) > 0 { return .comment(restOfLine()) }
            var fields: [String?] = []
            while true {
                fields.append(try field())
                guard index < scalars.count, !passLineEnd() else { return .record(fields) }
                let separator = scalars[index]
                index += 1
                if separator != "," { throw CSVTable.corrupt("Something stands between a field's quote and the comma behind it.") }
            }
        }

        /// 0 where no line ends. A carriage return by itself is like any other character.
        private func lengthOfLineEnd(at index: Int) -> Int {
            guard index < scalars.count else { return 0 }
            if scalars[index] == "\n" { return 1 }
            return scalars[index] == "\r" && index + 1 < scalars.count && scalars[index + 1] == "\n" ? 2 : 0
        }

        private mutating func passLineEnd() -> Bool {
            let length = lengthOfLineEnd(at: index)
            index += length
            if length > 0, firstLineEnd == nil { firstLineEnd = length == 1 ? "\n" : "\r\n" }
            return length > 0
        }

        private mutating func text(until isEnd: (Unicode.Scalar) -> Bool) -> String {
            let start = index
            while index < scalars.count, lengthOfLineEnd(at: index) == 0, !isEnd(scalars[index]) { index += 1 }
            return String(String.UnicodeScalarView(scalars[start..<index]))
        }

        private mutating func restOfLine() -> String {
            let rest = text { _ in false }
            _ = passLineEnd()
            return rest
        }

        private mutating func field() throws -> String? {
            guard index < scalars.count, scalars[index] == "\"" else {
                let text = text { $0 == "," }
                return text.isEmpty ? nil : text
            }
            index += 1
            var text = String.UnicodeScalarView()
            while index < scalars.count {
                let scalar = scalars[index]
                index += 1
                guard scalar == "\"" else { text.append(scalar); continue }
                guard index < scalars.count, scalars[index] == "\"" else { return String(text) }
                text.append("\"")
                index += 1
            }
            throw CSVTable.corrupt("A quote is never closed.")
        }
    }
}
