import SQLiteDriver

/// A list as one parameter, so that lists of any length are the same statement.
enum JSONList {
    /// A JSON array of integers and texts; nil where SQLite would not read back what was meant.
    ///
    /// NB: SQLite ends a JSON text at an escaped NUL, and may read a decimal fraction as the neighbour of the double that was written.
    static func text(of values: [SQLiteValue], hasNull: Bool) -> String? {
        var json: [UInt8] = [UInt8(ascii: "[")]
        for value in values {
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            switch value {
            case .integer(let number): json += Array(String(number).utf8)
            case .text(let text):
                guard !text.utf8.contains(0) else { return nil }
                append(text, to: &json)
            case .null, .real, .blob: return nil
            }
        }
        if hasNull { json += Array(",null".utf8) }
        json.append(UInt8(ascii: "]"))
        return String(decoding: json, as: UTF8.self)
    }

    private static func append(_ text: String, to json: inout [UInt8]) {
        json.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: json += Array("\\u00".utf8) + [hexadecimal(byte >> 4), hexadecimal(byte & 0xF)]
            default: json.append(byte)
            }
        }
        json.append(UInt8(ascii: "\""))
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 { digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10 }
}
