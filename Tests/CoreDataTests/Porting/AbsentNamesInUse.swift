import CoreData
import Foundation

/// Code as it comes from a Mac, with names that are absent here: it compiles but for their being unavailable, so that each of them is one
/// error with what to do instead, and nothing else is wrong.
// NB: what is unavailable may use what is unavailable.
@available(*, unavailable)
final class RenamingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject,
        in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        made.first?.setValue(mapping.userInfo?["title"], forKey: "title")
    }
}

@available(*, unavailable)
func arrays(_ song: NSManagedObject) { song.mutableArrayValue(forKey: "verses").add(song) }

@available(*, unavailable)
func batches(_ context: NSManagedObjectContext) throws {
    let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Tag"))
    deletion.resultType = .resultTypeObjectIDs
    let result = try context.execute(deletion) as? NSBatchDeleteResult
    let changes = [NSDeletedObjectsKey: result?.result as? [NSManagedObjectID] ?? []]
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
    let insertion = NSBatchInsertRequest(entityName: "Tag", objects: [["label": "a"]])
    insertion.resultType = .count
    try context.execute(insertion)
    let update = NSBatchUpdateRequest(entityName: "Tag")
    update.propertiesToUpdate = ["label": "b"]
    try context.persistentStoreCoordinator?.execute(update, with: context)
    context.undoManager = nil
    context.undoManager?.registerUndo(withTarget: context) { $0.redo() }
    context.undo()
}

@available(*, unavailable)
func migrating(_ url: URL, _ old: NSManagedObjectModel, _ new: NSManagedObjectModel) throws {
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(
        from: url,
        sourceType: NSSQLiteStoreType,
        options: nil,
        with: mapping,
        toDestinationURL: url.appendingPathExtension("new"),
        destinationType: NSSQLiteStoreType,
        destinationOptions: nil
    )
    _ = NSStagedMigrationManager([NSLightweightMigrationStage([old.versionChecksum])])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
    try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: url, ofType: NSSQLiteStoreType)
    try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: url, withType: NSSQLiteStoreType)
}

@available(*, unavailable)
func executing(_ request: NSFetchRequest<Tag>) throws -> [Tag] { try request.execute() }

@available(*, unavailable)
final class Watcher: NSObject {
    var token: NSKeyValueObservation?

    func observeValue(of tag: Tag, change: [NSKeyValueChangeKey: Any]?) { tag.label = change?[.newKey] as? String }

    func watch(_ tag: Tag) {
        token = tag.observe(\.label, options: [.new, .initial]) { tag, change in _ = change.newValue ?? tag.label }
        tag.addObserver(self, forKeyPath: "label", options: .old, context: nil)
        tag.removeObserver(self, forKeyPath: "label")
        token?.invalidate()
    }
}

@available(*, unavailable)
final class ObservedTag: NSManagedObject {
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { ["label"] }
    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "label" }
    override func setNilValueForKey(_ key: String) { setValue("", forKey: key) }
    override func observeValue(
        forKeyPath keyPath: String?,
        of object: Any?,
        change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) { setValue(change?[.newKey], forKey: "label") }
}

@available(*, unavailable)
final class SongIndex: NSCoreDataCoreSpotlightDelegate {
    override func domainIdentifier() -> String { "songs" }
    override func indexName() -> String? { nil }
}

@available(*, unavailable)
func cloud(_ container: NSPersistentCloudKitContainer, _ tag: Tag) throws {
    let index = SongIndex(forStoreWith: container.persistentStoreDescriptions[0], coordinator: container.persistentStoreCoordinator)
    index.startSpotlightIndexing()
    try container.initializeCloudKitSchema(options: [.dryRun, .printSchema])
    _ = container.canUpdateRecord(forManagedObjectWith: tag.objectID)
    let note = Notification(name: NSPersistentCloudKitContainer.eventChangedNotification, object: container)
    _ = note.userInfo?[NSPersistentCloudKitContainer.eventNotificationUserInfoKey] as? NSPersistentCloudKitContainer.Event
}
