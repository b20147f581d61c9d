/// Which CloudKit container a store would be mirrored to, where there is CloudKit. Without effect here.
open class NSPersistentCloudKitContainerOptions: NSObject {
    public let containerIdentifier: String

    public init(containerIdentifier: String) {
        self.containerIdentifier = containerIdentifier
        super.init()
    }
}
