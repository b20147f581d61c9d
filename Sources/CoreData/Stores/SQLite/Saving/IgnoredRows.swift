import Foundation

/// A trigger of the file, which others have made, kept rows from being written and said nothing: `RAISE(IGNORE)`.
enum IgnoredRows {
    /// - Throws: 133021 where a statement has written fewer rows of an entity than it was given: the data would never be in the file.
    static func require(_ written: Int, of given: Int, _ entity: NSEntityDescription) throws {
        if written != given { throw error("\(given - written) of \(given) new rows", entity) }
    }

    static func error(_ what: String, _ entity: NSEntityDescription) -> CocoaError {
        .coreData(
            .managedObjectConstraintMerge,
            "A trigger of the file ignores the save of \(what) of \(entity.name ?? "?"): drop it, or let it raise an error that says why."
        )
    }
}
