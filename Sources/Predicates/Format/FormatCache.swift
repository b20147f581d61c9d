import Foundation

/// The formats that the program has read last: most programs have few, and fill them again and again.
// Sendable: the lock guards the templates, and predicates, which they hold, are immutable though Foundation's class is not Sendable.
final class FormatCache: @unchecked Sendable {
    static let shared = FormatCache()

    private static let limit = 256
    /// Longer ones are put together by programs, each another.
    private static let longestFormat = 512

    private let lock = NSLock()
    private var templates: [String: (format: String, template: FormatTemplate)] = [:]

    /// The predicate of a format that was read before; nil where it has to be read.
    func predicate(_ format: String, _ arguments: [Any?]) -> NSPredicate? {
        lock.lock()
        let known = templates[format]
        lock.unlock()
        // Equal as texts is not enough: canonically equivalent formats differ in their bytes.
        guard let known, known.format.hasSameBytes(as: format) else { return nil }
        return known.template.filled(with: arguments)
    }

    func keep(_ template: FormatTemplate, of format: String) {
        if format.utf8.count > Self.longestFormat { return }
        lock.lock()
        defer { lock.unlock() }
        if templates.count == Self.limit { templates = [:] }
        templates[format] = (format, template)
    }
}
