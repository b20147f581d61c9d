import CoreData
import Foundation

/// Names from before Swift 3, which texts about the stack still show.
extension CoreDataStack {
    @available(*, deprecated, renamed: "constructSQLiteStack(modelName:in:at:callback:)")
    public static func constructSQLiteStack(
        withModelName modelName: String,
        in bundle: Bundle = .main,
        at desiredStoreURL: URL? = nil,
        callback: @escaping SetupCallback
    ) {
        constructSQLiteStack(modelName: modelName, in: bundle, at: desiredStoreURL, callback: callback)
    }

    @available(*, deprecated, renamed: "constructInMemoryStack(modelName:in:)")
    public static func constructInMemoryStack(withModelName modelName: String, in bundle: Bundle = .main) throws -> CoreDataStack {
        try constructInMemoryStack(modelName: modelName, in: bundle)
    }
}

extension NSManagedObjectContext {
    @available(*, deprecated, renamed: "perform(_:)")
    @preconcurrency public func performBlock(_ block: @escaping @Sendable () -> Void) { perform(block) }
}
