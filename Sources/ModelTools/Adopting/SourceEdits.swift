/// Changes of a text that keep its lines where they are, and its columns as far as that goes.
struct SourceEdits {
    private var edits: [(range: Range<Int>, text: [UInt8])] = []

    /// Spaces instead of what is there.
    mutating func blank(_ range: Range<Int>) { edits.append((range, [])) }

    /// Another text, and spaces up to the length of the old one.
    mutating func replace(_ range: Range<Int>, with text: String) { edits.append((range, Array(text.utf8))) }

    /// More text; of two insertions at one place the first comes first.
    mutating func insert(_ text: String, at place: Int) { edits.append((place..<place, Array(text.utf8))) }

    /// NB: of two edits that overlap the second one is left out. Only damaged files have such.
    func applied(to bytes: [UInt8]) -> String {
        var (text, start): ([UInt8], Int) = ([], 0)
        let ordered = edits.enumerated().sorted { ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset) }
        for (range, new) in ordered.map(\.element) where range.lowerBound >= start {
            text += bytes[start..<range.lowerBound] + new
            let old = bytes[range]
            let rest = old.dropFirst(new.count).filter { $0 != UInt8(ascii: "\n") }.count
            // What is behind the old text stays in its line.
            text += old.filter { $0 == UInt8(ascii: "\n") }
            text += Array(repeating: UInt8(ascii: " "), count: old.contains(UInt8(ascii: "\n")) ? 0 : rest)
            start = range.upperBound
        }
        return String(decoding: text + bytes[start...], as: UTF8.self)
    }
}
