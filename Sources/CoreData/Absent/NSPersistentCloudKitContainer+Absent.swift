/// What a schema is made of: CloudKit's.
@available(*, unavailable, message: "There is no CloudKit on Linux: put what needs it between #if canImport(CloudKit) and #endif.")
public struct NSPersistentCloudKitContainerSchemaInitializationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let dryRun = Self(rawValue: 2)
    public static let printSchema = Self(rawValue: 4)
}

extension NSPersistentCloudKitContainer {
    @available(*, unavailable, message: "There is no CloudKit on Linux: put what needs it between #if canImport(CloudKit) and #endif.")
    public final class Event: NSObject {}

    @available(*, unavailable, message: "There is no CloudKit on Linux: put what needs it between #if canImport(CloudKit) and #endif.")
    public static var eventChangedNotification: NSNotification.Name { absent() }

    @available(*, unavailable, message: "There is no CloudKit on Linux: put what needs it between #if canImport(CloudKit) and #endif.")
    public static var eventNotificationUserInfoKey: String { absent() }

    @available(*, unavailable, message: "There is no CloudKit on Linux: put what needs it between #if canImport(CloudKit) and #endif.")
    public func initializeCloudKitSchema(options: NSPersistentCloudKitContainerSchemaInitializationOptions = []) throws { absent() }

    @available(*, unavailable, message: "There is no CloudKit on Linux: put what needs it between #if canImport(CloudKit) and #endif.")
    public func canUpdateRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool { absent() }

    @available(*, unavailable, message: "There is no CloudKit on Linux: put what needs it between #if canImport(CloudKit) and #endif.")
    public func canDeleteRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool { absent() }

    @available(*, unavailable, message: "There is no CloudKit on Linux: put what needs it between #if canImport(CloudKit) and #endif.")
    public func canModifyManagedObjects(in store: NSPersistentStore) -> Bool { absent() }
}
