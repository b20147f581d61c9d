import Foundation
import SQLiteDriver

/// How rows of a statement are printed.
enum RowFormat: CaseIterable {
    case tabs, csv, json

    /// Nil where there is none.
    func header(_ columns: [String]) -> String? {
        switch self {
        case .tabs: columns.joined(separator: "\t") + "\n"
        case .csv: columns.map(Self.csv).joined(separator: ",") + "\n"
        case .json: nil
        }
    }

    /// - Parameter names: those of the columns, as `names(of:)` gives them.
    func line(_ row: [SQLiteValue], _ names: [String]) -> String {
        switch self {
        case .tabs: row.map(Self.text).joined(separator: "\t") + "\n"
        case .csv: row.map(Self.csv).joined(separator: ",") + "\n"
        case .json: "{" + zip(names, row).map { "\($0):\(Self.json($1))" }.joined(separator: ",") + "}\n"
        }
    }

    /// The names of columns as the lines need them: in JSON, two may not be the same.
    func names(of columns: [String]) -> [String] {
        guard self == .json else { return columns }
        var known: Set<String> = []
        return columns.map { column in
            var (name, count) = (column, 1)
            while !known.insert(name).inserted {
                count += 1
                name = "\(column):\(count)"
            }
            return Self.json(name)
        }
    }
}

/// Values.
extension RowFormat {
    private static func text(_ value: SQLiteValue) -> String {
        switch value {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        case .blob(let bytes): hexadecimal(Data(bytes))
        }
    }

    /// NB: nothing between commas is no value, an empty text has quotation marks.
    private static func csv(_ value: SQLiteValue) -> String {
        if case .text(let text) = value { csv(text) } else { text(value) }
    }

    private static func csv(_ text: String) -> String {
        let isPlain = !text.isEmpty && !text.utf8.contains { ",\"\r\n".utf8.contains($0) } && text.first != " " && text.last != " "
        return isPlain ? text : "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    private static func json(_ value: SQLiteValue) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): String(number)
        // JSON has no form for infinity.
        case .real(let number): number.isFinite ? String(number) : json("\(number)")
        case .text(let text): json(text)
        case .blob(let bytes): "{\"base64\":\"\(Data(bytes).base64EncodedString())\"}"
        }
    }

    /// NB: an encoder for each value would take ten times as long.
    private static func json(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            case ..<0x20: bytes += Array("\\u00".utf8) + Array((byte < 16 ? "0" : "").utf8) + Array(String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}
