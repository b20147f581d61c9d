/// A WordNet file that is missing, damaged, or at odds with another one.
public struct WordNetDataError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file's path.
    public let file: String
    /// The line, from 1; nil when the file as a whole is meant.
    public let line: Int?
    /// What was expected there, and what was found.
    public let message: String

    public var description: String {
        file + (line.map { ":\($0)" } ?? "") + ": " + message
    }
}
