/// A text of a `Lexicon`, to be read with that lexicon's `string(_:)` or `withUTF8(_:_:)`.
public struct Text: Equatable, Sendable {
    let start: UInt32
    let count: UInt32

    var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}

/// Texts, one after the other in one allocation. Holds valid UTF-8 only: `LineReader` lets nothing else through.
struct TextArena: Sendable {
    private var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(bytes.count + count)
    }

    mutating func append(_ text: ArraySlice<UInt8>) -> Text {
        defer { bytes.append(contentsOf: text) }
        return Text(start: UInt32(bytes.count), count: UInt32(text.count))
    }

    /// Appends a word of a WordNet file, which writes an underscore for a space.
    mutating func append(word: ArraySlice<UInt8>) -> Text {
        defer { bytes.append(contentsOf: word.lazy.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: " ") : $0 }) }
        return Text(start: UInt32(bytes.count), count: UInt32(word.count))
    }

    func withUTF8<Result>(_ text: Text, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[text.range])) }
    }

    /// Whether `text`, in ASCII lower case, is `lemma`.
    func isSpelling(_ text: Text, of lemma: Text) -> Bool {
        text.count == lemma.count && zip(text.range, lemma.range).allSatisfy { lowercase(bytes[$0]) == bytes[$1] }
    }

    private func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
