import Foundation
import FoundationXML

/// The elements of a document as lines of text, sorted: where each is, and its attributes by name.
final class XMLLines: NSObject, XMLParserDelegate {
    static func lines(of data: Data) -> [String] {
        let reader = XMLLines()
        let parser = XMLParser(data: data)
        parser.delegate = reader
        return parser.parse() ? reader.lines.sorted() : ["no XML"]
    }

    private var lines: [String] = []
    private var path: [String] = []

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        path.append(attributes["name"].map { "\(element) \($0)" } ?? element)
        lines.append(path.joined(separator: "/") + " \(attributes.mapValues(normal).sorted { $0.key < $1.key })")
    }

    /// NB: numbers and truth values have several spellings, and one of them is written.
    private func normal(_ value: String) -> String {
        switch value.lowercased() {
        case "yes", "true": "1"
        case "no", "false": "0"
        default: Double(value).map { number in Int(exactly: number).map(String.init) ?? "\(number)" } ?? value
        }
    }

    func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
        path.removeLast()
    }
}
