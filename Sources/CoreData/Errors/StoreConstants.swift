/// The type of stores in an SQLite file.
public let NSSQLiteStoreType = "SQLite"
/// The type of stores in one binary file.
public let NSBinaryStoreType = "Binary"
/// The type of stores in one file of XML.
public let NSXMLStoreType = "XML"
/// The type of stores without a file.
public let NSInMemoryStoreType = "InMemory"
/// Metadata: the type of the store.
public let NSStoreTypeKey = "NSStoreType"
/// Metadata: the identifier of the store, as text.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Metadata: the version hash of each entity that the store was written with.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// Metadata: the version identifiers of the model that the store was written with.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// Metadata: the version checksum of the model that the store was written with.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// Option: true for a store that is never written to.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: how many seconds to wait for another process that is writing.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option: SQLite pragmas by name; the values are texts.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option: true to collect statistics for the query planner when the store is added.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option: true to rebuild the file without gaps when the store is added.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option: how a store's file is encrypted on a phone. Kept, and without effect here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option: true to destroy a store that is in use.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Option: true to keep a history of changes in the store.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option: true to post a notification after each change of the store, whoever makes it.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Option: true to open a store without comparing version hashes.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option: true to migrate a store that was written with another version of the model.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option: true to infer what a migration has to do where no mapping model says it.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option: true to leave what a migration need not do at once to `finishDeferredLightweightMigration()`. Metadata: whether something is left.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// Option: the manager of a migration in stages.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Option: a number of seconds. A statement that takes as long is a line in the log, a warning, with its text and its time. An addition to Apple's
/// interface.
public let CoreDataSlowStatementThresholdOption = "CoreDataSlowStatementThresholdOption"
