/// A position in a source file, as compilers count: lines and bytes, the first being 1.
public struct SourcePlace: Sendable, Equatable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// What is to be said about a place in a source file, in the form of compilers.
public struct SourceMessage: Sendable, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case error, warning, note
    }

    public let kind: Kind
    public let file: String
    /// Nil where the file as a whole is meant.
    public let place: SourcePlace?
    /// What is wrong and what helps, without a full stop.
    public let text: String

    public init(_ kind: Kind, _ file: String, _ place: SourcePlace?, _ text: String) {
        self.kind = kind
        self.file = file
        self.place = place
        self.text = text
    }

    /// `path:line:column: error: text`.
    public var description: String {
        let position = place.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(file)\(position): \(kind.rawValue): \(text)"
    }
}

/// What cannot be made of a piece of source, and where.
struct SourceProblem: Error {
    let place: SourcePlace
    let text: String
}

/// A Swift file and its text.
public struct SourceFile: Sendable, Equatable {
    public let path: String
    public let text: String

    public init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}
