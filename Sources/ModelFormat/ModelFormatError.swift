import Foundation

/// What is wrong with a model file, and where.
public struct ModelFormatError: Error, Equatable, Sendable, CustomStringConvertible, LocalizedError {
    /// A position in a file.
    public enum Place: Equatable, Sendable {
        /// A line of an XML file, the first being 1.
        case line(Int)
        /// A byte of a binary property list, the first being 0.
        case offset(Int)
        /// An object of a keyed archive: the index into its `$objects`.
        case object(Int)
    }

    /// The path of the file; nil for data that came from no file.
    public var file: String?
    /// Nil where the file as a whole is meant.
    public let place: Place?
    /// A sentence without a full stop.
    public let reason: String

    public init(file: String? = nil, _ place: Place?, _ reason: String) {
        self.file = file
        self.place = place
        self.reason = reason
    }

    public var description: String { [file, place?.text].compactMap { $0 }.joined(separator: ", ") + separator + reason }
    public var errorDescription: String? { description }

    private var separator: String { file == nil && place == nil ? "" : ": " }
}

extension ModelFormatError.Place {
    fileprivate var text: String {
        switch self {
        case .line(let number): "line \(number)"
        case .offset(let number): "byte \(number)"
        case .object(let number): "object \(number)"
        }
    }
}

/// Runs `body`, whose errors are about `url`.
func inFile<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch var error as ModelFormatError {
        error.file = error.file ?? url.path
        throw error
    } catch {
        throw ModelFormatError(file: url.path, nil, error.localizedDescription)
    }
}

/// The content of a file.
///
/// - Throws: `ModelFormatError` that names the file.
func content(of url: URL) throws -> Data {
    try inFile(url) {
        // NB: Foundation on Linux says no more of a folder than "error 256".
        if (try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType) == .typeDirectory {
            throw ModelFormatError(nil, "it is a folder, where a file is expected")
        }
        return try Data(contentsOf: url)
    }
}
