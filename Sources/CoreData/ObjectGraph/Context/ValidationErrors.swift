import Foundation

/// Validation errors of several objects and properties, in the form that Core Data reports them.
enum ValidationErrors {
    /// The errors that an error stands for: those in it, where it says there are several. Each as it was thrown: a program matches its own.
    static func single(_ error: any Error) -> [any Error] {
        let cocoa = error as NSError
        guard cocoa.domain == NSCocoaErrorDomain, cocoa.code == NSValidationMultipleErrorsError,
            let several = cocoa.userInfo[NSDetailedErrorsKey] as? [any Error]
        else { return [error] }
        return several
    }

    static func throwIfAny(_ errors: [any Error]) throws {
        guard let first = errors.first else { return }
        if errors.count == 1 { throw first }
        throw CocoaError.coreData(
            .validationMultipleErrors,
            "Multiple validation errors occurred: \(errors.count).",
            userInfo: [NSDetailedErrorsKey: errors]
        )
    }
}
