import Foundation
import FoundationXML

/// An element of an XML document.
struct XMLNode: Sendable {
    var name: String
    /// In the order in which they are written; those read from a file are sorted by name.
    var attributes: [(name: String, value: String)] = []
    /// The characters between the children.
    var text = ""
    var children: [XMLNode] = []
    /// The line on which the element begins; 0 for one that comes from no file.
    var line = 0

    init(_ name: String) { self.name = name }

    func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    func children(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

    /// The text without the blanks around it.
    var trimmedText: String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    func error(_ reason: String) -> ModelFormatError { ModelFormatError(line > 0 ? .line(line) : nil, reason) }
}

extension XMLNode {
    /// The root element of a document in UTF-8. Entities from outside the document are not loaded.
    ///
    /// - Throws: `ModelFormatError` with a line for what is no XML.
    static func root(of data: Data) throws -> XMLNode {
        // NB: Foundation's parser stops the program for names that are not in UTF-8.
        guard String(validating: data, as: UTF8.self) != nil else { throw ModelFormatError(nil, "the text is not in UTF-8") }
        try refuseEmptyInstructions(Array(data))
        let builder = XMLTreeBuilder()
        let parser = XMLParser(data: data)
        parser.delegate = builder
        let isComplete = parser.parse()
        // NB: the parser calls many a document complete that it has found errors in. To abort it at the first one stops the program.
        guard isComplete, parser.parserError == nil, let root = builder.root else {
            let code = (parser.parserError as NSError?).map { " (error \($0.code) of the XML parser)" } ?? ""
            throw ModelFormatError(.line(max(parser.lineNumber, 1)), "the file is no well-formed XML\(code)")
        }
        if let line = builder.lineTooDeep {
            throw ModelFormatError(.line(line), "the elements are nested more than \(XMLTreeBuilder.greatestDepth) levels deep")
        }
        return root
    }
}

extension XMLNode {
    /// NB: Foundation's parser also stops the program for a processing instruction without content, such as `<?name?>`.
    private static func refuseEmptyInstructions(_ bytes: [UInt8]) throws {
        var start = bytes.startIndex
        while let mark = bytes[start...].firstIndex(of: UInt8(ascii: "?")) {
            start = mark + 1
            guard mark > 0, bytes[mark - 1] == UInt8(ascii: "<") else { continue }
            let rest = bytes[start...].drop { !isBlank($0) && $0 != UInt8(ascii: "?") }.drop(while: isBlank)
            guard rest.starts(with: "?>".utf8) else { continue }
            let line = bytes[..<mark].count { $0 == UInt8(ascii: "\n") } + 1
            throw ModelFormatError(.line(line), "the file has a processing instruction without content")
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
}

/// Builds elements from what the parser meets.
private final class XMLTreeBuilder: NSObject, XMLParserDelegate {
    /// Far more than a model has, and little enough for whatever visits elements within elements. The parser has a limit only in some versions.
    static let greatestDepth = 256

    private(set) var root: XMLNode?
    /// The line of the first element that is deeper than that; it and those in it are left out.
    private(set) var lineTooDeep: Int?
    private var open: [XMLNode] = []
    private var skipped = 0

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        if open.count == Self.greatestDepth {
            lineTooDeep = lineTooDeep ?? parser.lineNumber
            skipped += 1
            return
        }
        var node = XMLNode(element)
        node.attributes = attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        node.line = parser.lineNumber
        open.append(node)
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if !open.isEmpty { open[open.count - 1].text += text }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        if !open.isEmpty { open[open.count - 1].text += String(decoding: block, as: UTF8.self) }
    }

    func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
        if skipped > 0 {
            skipped -= 1
            return
        }
        guard let ended = open.popLast() else { return }
        if open.isEmpty { root = ended } else { open[open.count - 1].children.append(ended) }
    }
}
