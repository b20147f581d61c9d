import Foundation

extension XMLNode {
    /// The document with this root, indented as Apple's tools do.
    var document: Data {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
        write(to: &text, indentation: "")
        return Data(text.utf8)
    }

    private func write(to output: inout String, indentation: String) {
        output += "\(indentation)<\(name)"
        for attribute in attributes { output += " \(attribute.name)=\"\(Self.escaped(attribute.value))\"" }
        if children.isEmpty && text.isEmpty {
            output += "/>\n"
        } else if children.isEmpty {
            output += ">\(Self.escaped(text))</\(name)>\n"
        } else {
            output += ">\(Self.escaped(text))\n"
            for child in children { child.write(to: &output, indentation: indentation + "    ") }
            output += "\(indentation)</\(name)>\n"
        }
    }

    private static let escapes: [Unicode.Scalar: String] = [
        "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;",
    ]

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.filter(isAllowed).map { escapes[$0] ?? String($0) }.joined()
    }

    /// XML 1.0 has no form at all for other control characters.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 ? scalar.value != 0xfffe && scalar.value != 0xffff : ["\n", "\r", "\t"].contains(scalar)
    }
}
