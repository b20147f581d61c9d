import ModelFormat

/// Makes of Swift source for Apple's platforms what compiles on Linux: `@NSManaged` properties and methods get bodies, `@objc` goes.
///
/// Every declaration stays in its line and column, and errors and debuggers name the original file.
///
/// - Parameter file: the path of the original.
/// - Throws: `ModelFormatError` with the line of a declaration that `@NSManaged` does not allow, or that cannot be made.
public func adoptedSource(_ text: String, file: String) throws -> String {
    do {
        return try SourceAdoption(text).text(named: file)
    } catch var error as ModelFormatError {
        error.file = file
        throw error
    }
}

private struct SourceAdoption {
    private let source: SwiftTokens
    /// Attributes that become spaces.
    private var blanks: [Range<Int>] = []
    /// Declarations with the places where their bodies belong, in order.
    private var declarations: [(declaration: ManagedDeclaration, end: Int)] = []

    init(_ text: String) throws {
        source = SwiftTokens(text)
        for index in source.tokens.indices where source.tokens[index].text == "@" { try readAttribute(at: index) }
    }

    private mutating func readAttribute(at index: Int) throws {
        guard index + 1 < source.tokens.count else { return }
        let name = source.tokens[index + 1]
        switch name.text {
        case "objc": blanks.append(source.tokens[index].range.lowerBound..<selectorEnd(after: index + 1))
        case "objcMembers": blanks.append(source.tokens[index].range.lowerBound..<name.range.upperBound)
        case "NSManaged":
            blanks.append(source.tokens[index].range.lowerBound..<name.range.upperBound)
            var reader = DeclarationReader(source, at: index + 2, line: name.line)
            declarations.append(try reader.declaration())
        default: break
        }
    }

    /// Where the selector in brackets behind a word ends, or the word where there is none.
    private func selectorEnd(after index: Int) -> Int {
        let end = source.tokens[index].range.upperBound
        guard index + 1 < source.tokens.count, source.tokens[index + 1].text == "(", source.tokens[index + 1].range.lowerBound == end else {
            return end
        }
        return source.tokens[(index + 1)...].first { $0.text == ")" }?.range.upperBound ?? source.bytes.count
    }

    func text(named file: String) throws -> String {
        var accessors = ManagedAccessors(declarations.map(\.declaration))
        var bytes = source.bytes
        // A selector that is not closed must not take the lines with it.
        for place in blanks.joined() where bytes[place] != UInt8(ascii: "\n") { bytes[place] = UInt8(ascii: " ") }
        var (text, start): ([UInt8], Int) = ([], 0)
        for (declaration, end) in declarations where end >= start {
            text += bytes[start..<end] + Array(" \(try accessors.body(of: declaration))".utf8)
            start = end
        }
        text += bytes[start...]
        let keys = accessors.keys.isEmpty ? [] : ["private enum ManagedKeys {"] + accessors.keys.map { "    " + $0 } + ["}", ""]
        return
            (["#sourceLocation(file: \(SwiftNames.literal(file)), line: 1)", String(decoding: text, as: UTF8.self)]
            + ["#sourceLocation()", ""] + keys).joined(separator: "\n")
    }
}
