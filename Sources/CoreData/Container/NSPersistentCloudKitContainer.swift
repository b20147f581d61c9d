/// An `NSPersistentContainer`: there is no CloudKit here, and nothing is ever sent anywhere.
///
/// It is here so that programs that name it compile, and keep their data in the same local store.
// Sendable as every container: it has no state of its own.
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {}
