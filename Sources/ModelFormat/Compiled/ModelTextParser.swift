/// Reads the predicates and expressions that a source has as text, for a compiled model, which has objects instead.
///
/// This module knows no grammar: whoever compiles a model with such texts brings one.
public struct ModelTextParser: Sendable {
    public var predicate: @Sendable (String) throws -> Model.Predicate
    public var expression: @Sendable (String) throws -> Model.Expression

    public init(
        predicate: @escaping @Sendable (String) throws -> Model.Predicate,
        expression: @escaping @Sendable (String) throws -> Model.Expression
    ) {
        self.predicate = predicate
        self.expression = expression
    }

    /// Leaves all texts as they are, so that a model with any cannot be compiled; but key paths are read, with a `@count` and the like
    /// at the end.
    public static let none = ModelTextParser(predicate: { .format($0) }, expression: { keyPath($0) ?? .text($0) })

    private static func keyPath(_ text: String) -> Model.Expression? {
        let keys = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = keys.last, keys.allSatisfy({ isKey($0.first == "@" ? $0.dropFirst() : $0) }) else { return nil }
        guard last.first == "@" else { return keys.contains { $0.first == "@" } ? nil : .keyPath(nil, text) }
        let path = keys.dropLast().joined(separator: ".")
        return path.isEmpty || path.contains("@") ? nil : .function("\(last.dropFirst()):", [.keyPath(nil, path)])
    }

    private static func isKey(_ text: Substring) -> Bool {
        guard let first = text.first, !first.isNumber else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}
