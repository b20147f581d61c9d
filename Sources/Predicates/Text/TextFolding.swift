import Foundation

/// What is taken away from texts before they are compared. Works on UTF-8; the result equals Foundation's `folding(options:locale: nil)`.
public enum TextFolding: Sendable, CaseIterable {
    /// Nothing: texts are compared as they are.
    case literal
    case caseInsensitive
    case diacriticInsensitive
    case caseAndDiacriticInsensitive

    init(isCaseInsensitive: Bool, isDiacriticInsensitive: Bool) {
        self =
            switch (isCaseInsensitive, isDiacriticInsensitive) {
            case (false, false): .literal
            case (true, false): .caseInsensitive
            case (false, true): .diacriticInsensitive
            case (true, true): .caseAndDiacriticInsensitive
            }
    }

    var isCaseInsensitive: Bool { self == .caseInsensitive || self == .caseAndDiacriticInsensitive }
    var isDiacriticInsensitive: Bool { self == .diacriticInsensitive || self == .caseAndDiacriticInsensitive }

    var compareOptions: String.CompareOptions {
        var options: String.CompareOptions = []
        if isCaseInsensitive { options.insert(.caseInsensitive) }
        if isDiacriticInsensitive { options.insert(.diacriticInsensitive) }
        return options
    }

    func fold(_ text: String) -> String {
        self == .literal ? text : text.folding(options: compareOptions, locale: nil)
    }

    func foldedBytes(_ text: String) -> [UInt8] { Array(fold(text).utf8) }

    /// Calls `body` with the folded text. Texts below U+0250 are folded by table, others by Foundation.
    ///
    /// - Complexity: O(n); allocates nothing on the heap for short texts that the table covers.
    func withFolded<Result>(
        _ utf8: UnsafeBufferPointer<UInt8>,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        guard let table = FoldingTable.table(for: self) else { return body(utf8) }
        let folded: Result? = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: utf8.count * FoldingTable.maximumGrowth + 1) {
            guard let count = table.fold(utf8, into: $0) else { return nil }
            return body(UnsafeBufferPointer(rebasing: $0[..<count]))
        }
        return folded ?? foldedBytes(String(decoding: utf8, as: UTF8.self)).withUnsafeBufferPointer(body)
    }
}

/// The folded form of each scalar below U+0250, taken from Foundation once.
struct FoldingTable: Sendable {
    private static let firstUncovered: UInt32 = 0x250
    /// A folded scalar is at most this many times as long.
    static let maximumGrowth = 2

    private var bytes: [UInt8] = []
    private var ends: [UInt16] = []
    private let lowercasesASCII: Bool

    private init(_ folding: TextFolding) {
        lowercasesASCII = folding.isCaseInsensitive
        for code in 0..<Self.firstUncovered {
            // Every value below U+0250 is a scalar.
            bytes += folding.foldedBytes(String(Character(Unicode.Scalar(code)!)))
            ends.append(UInt16(bytes.count))
        }
    }

    private static let caseTable = FoldingTable(.caseInsensitive)
    private static let diacriticTable = FoldingTable(.diacriticInsensitive)
    private static let bothTable = FoldingTable(.caseAndDiacriticInsensitive)

    static func table(for folding: TextFolding) -> FoldingTable? {
        switch folding {
        case .literal: nil
        case .caseInsensitive: caseTable
        case .diacriticInsensitive: diacriticTable
        case .caseAndDiacriticInsensitive: bothTable
        }
    }

    /// Writes the folded text and gives its length; nil for a text that the table does not cover or that is not UTF-8.
    func fold(_ utf8: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        var count = 0
        var index = 0
        while index < utf8.count {
            let byte = utf8[index]
            if byte < 0x80 {
                output[count] = lowercasesASCII && byte &- 0x41 < 26 ? byte | 0x20 : byte
                count += 1
                index += 1
                continue
            }
            guard (0xC2...0xC9).contains(byte), index + 1 < utf8.count, utf8[index + 1] & 0xC0 == 0x80 else { return nil }
            let scalar = Int(byte & 0x1F) << 6 | Int(utf8[index + 1] & 0x3F)
            guard scalar < ends.count else { return nil }
            for position in Int(ends[scalar - 1])..<Int(ends[scalar]) {
                output[count] = bytes[position]
                count += 1
            }
            index += 2
        }
        return count
    }
}
