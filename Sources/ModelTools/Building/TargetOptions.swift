import Foundation
import ModelFormat

/// What the file `.coredata.json` in a target's folder says about the target's models and sources.
public struct TargetOptions: Sendable, Equatable {
    public var style = PropertyStyle.xcode
    public var isPublic = true
    /// Places that warnings are not wanted of: `Book.title`, `Book`, or an unknown attribute of a model's file.
    public var silence: Set<String> = []
    /// Excluded Swift files and models, or folders of such, of which nothing is made.
    public var leaveOut: [String] = []

    public init() {}

    private static let keys = ["access", "leaveOut", "silence", "style"]

    /// - Throws: `SourceMessages` with the line of each key that cannot be used; nothing where there is no such file.
    public init(file: URL) throws(SourceMessages) {
        guard let data = FileManager.default.contents(atPath: file.path) else { return }
        let (text, path) = (String(decoding: data, as: UTF8.self), file.path)
        var found: [SourceMessage] = []
        for (key, value) in try Self.entries(data, path).sorted(by: { $0.key < $1.key }) {
            guard let problem = read(key, value) else { continue }
            let line = text.range(of: "\"\(key)\"").map { text[..<$0.lowerBound].count(where: \.isNewline) + 1 } ?? 1
            found.append(SourceMessage(.error, path, SourcePlace(line: line, column: 1), problem))
        }
        if !found.isEmpty { throw SourceMessages(found) }
    }

    private static func entries(_ data: Data, _ path: String) throws(SourceMessages) -> [String: Any] {
        do {
            if let entries = try JSONSerialization.jsonObject(with: data) as? [String: Any] { return entries }
            throw Failure("the file holds no object: it must begin with {")
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"] as? String ?? "\(error)"
            let numbers = reason.firstMatch(of: /line (\d+), column (\d+)/)
            let place = numbers.map { SourcePlace(line: Int($0.1) ?? 1, column: Int($0.2) ?? 1) } ?? SourcePlace(line: 1, column: 1)
            throw SourceMessages([SourceMessage(.error, path, place, "no JSON: \(reason)")])
        }
    }

    /// Takes a value over, or says why not.
    private mutating func read(_ key: String, _ value: Any) -> String? {
        let text = value as? String
        switch key {
        case "style":
            guard let found = text.flatMap(PropertyStyle.init) else { return "style is \"xcode\" or \"swift\", not \(value)" }
            style = found
        case "access":
            guard let text, ["public", "internal"].contains(text) else { return "access is \"public\" or \"internal\", not \(value)" }
            isPublic = text == "public"
        case "silence", "leaveOut":
            guard let texts = value as? [String] else { return "\(key) is an array of texts, not \(value)" }
            if key == "silence" { silence = Set(texts) } else { leaveOut = texts }
        default:
            let near = nearest(to: key, among: Self.keys).map { ": is \($0) meant?" } ?? "."
            return "\(key) is no key\(near) There are \(Self.keys.joined(separator: ", "))"
        }
        return nil
    }
}

/// Messages that end a build.
public struct SourceMessages: Error {
    public let messages: [SourceMessage]

    public init(_ messages: [SourceMessage]) { self.messages = messages }
}
