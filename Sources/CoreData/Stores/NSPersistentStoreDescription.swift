/// A store that is to be added: what it is, where it is, and how it is opened.
///
/// A new description is of an SQLite store that is migrated by itself where it is of another version of the model.
///
/// > Concurrency: one thread at a time. It is read when the store is asked for; later changes have no effect on that store.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// `NSSQLiteStoreType` unless set.
    open var type = NSSQLiteStoreType
    /// The name of the model's configuration whose entities are in the store; nil for all entities.
    open var configuration: String?
    /// The place. An SQLite store at `/dev/null` is in memory, and seen by one coordinator only.
    open var url: URL?
    /// Whether the store is opened in the background, and its completion handler called later.
    open var shouldAddStoreAsynchronously = false
    /// Kept, and without effect: there is no CloudKit here.
    open var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions?
    /// Everything that the coordinator is told, by the keys of options. Those that have a property here are among them.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: true as NSNumber, NSInferMappingModelAutomaticallyOption: true as NSNumber,
    ]

    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// A description of a store at `/dev/null`.
    public override convenience init() { self.init(url: URL(fileURLWithPath: "/dev/null")) }

    /// Sets an option, or removes it for nil.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// SQLite pragmas by name.
    open var sqlitePragmas: [String: NSObject] { options[NSSQLitePragmasOption] as? [String: NSObject] ?? [:] }

    /// Sets a pragma, such as `"WAL" as NSString` for `journal_mode`, or removes it for nil. A number becomes its text.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = (value as? NSNumber).map { NSString(string: $0.stringValue) } ?? value
        options[NSSQLitePragmasOption] = pragmas.isEmpty ? nil : NSDictionary(dictionary: pragmas)
    }

    /// Whether the store is never written to. A file must be there then.
    open var isReadOnly: Bool {
        get { DatabaseOptions.flag(options[NSReadOnlyPersistentStoreOption]) }
        set { options[NSReadOnlyPersistentStoreOption] = newValue as NSNumber }
    }

    /// How many seconds to wait for another process that is writing; 30 unless set.
    open var timeout: TimeInterval {
        get { DatabaseOptions.timeout(options) }
        set { options[NSPersistentStoreTimeoutOption] = newValue as NSNumber }
    }

    /// Whether a store of another version of the model is brought to the coordinator's; true unless set. Else it is refused with 134100.
    open var shouldMigrateStoreAutomatically: Bool {
        get { DatabaseOptions.flag(options[NSMigratePersistentStoresAutomaticallyOption]) }
        set { options[NSMigratePersistentStoresAutomaticallyOption] = newValue as NSNumber }
    }

    /// Whether what a migration has to do may follow from the two versions alone; true unless set.
    open var shouldInferMappingModelAutomatically: Bool {
        get { DatabaseOptions.flag(options[NSInferMappingModelAutomaticallyOption]) }
        set { options[NSInferMappingModelAutomaticallyOption] = newValue as NSNumber }
    }

    /// A plain description that says the same.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        (copy.type, copy.configuration, copy.url, copy.options) = (type, configuration, url, options)
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.cloudKitContainerOptions = cloudKitContainerOptions
        return copy
    }

    open override var description: String { "NSPersistentStoreDescription (type: \(type), url: \(url?.absoluteString ?? "nil"))" }
}
