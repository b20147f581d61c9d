import CoreData
import Foundation

func makeOurSide(_ workload: Workload) -> (any Side)? { CoreDataSide(workload: workload) }

/// This package as a program uses it: a model in code, typed accessors, one private-queue context, nothing switched off.
struct CoreDataSide: Side {
    let label = "ours"
    let workload: Workload

    func makeStore(at url: URL, isIndexed: Bool) throws {
        try CoreDataSession(url, isIndexed: isIndexed, workload: workload).close()
    }

    func open(_ url: URL, isIndexed: Bool) throws -> any Session {
        try CoreDataSession(url, isIndexed: isIndexed, workload: workload)
    }
}

class Song: NSManagedObject {
    enum Keys {
        static let title = Attribute<String?>("title")
        static let artist = Attribute<String?>("artist")
        static let duration = Attribute<Double>("duration")
        static let trackNumber = Attribute<Int16>("trackNumber")
        static let playCount = Attribute<Int64>("playCount")
        static let addedAt = Attribute<Date?>("addedAt")
        static let isFavorite = Attribute<Bool>("isFavorite")
        static let uuid = Attribute<UUID?>("uuid")
    }

    var title: String? {
        get { self[Keys.title] }
        set { self[Keys.title] = newValue }
    }
    var artist: String? {
        get { self[Keys.artist] }
        set { self[Keys.artist] = newValue }
    }
    var duration: Double {
        get { self[Keys.duration] }
        set { self[Keys.duration] = newValue }
    }
    var trackNumber: Int16 {
        get { self[Keys.trackNumber] }
        set { self[Keys.trackNumber] = newValue }
    }
    var playCount: Int64 {
        get { self[Keys.playCount] }
        set { self[Keys.playCount] = newValue }
    }
    var addedAt: Date? {
        get { self[Keys.addedAt] }
        set { self[Keys.addedAt] = newValue }
    }
    var isFavorite: Bool {
        get { self[Keys.isFavorite] }
        set { self[Keys.isFavorite] = newValue }
    }
    var uuid: UUID? {
        get { self[Keys.uuid] }
        set { self[Keys.uuid] = newValue }
    }

    func assign(_ values: SongValues) {
        title = values.title
        artist = values.artist
        duration = values.duration
        trackNumber = values.trackNumber
        playCount = values.playCount
        addedAt = values.addedAt
        isFavorite = values.isFavorite
        uuid = values.uuid
    }

    static func request() -> NSFetchRequest<Song> { NSFetchRequest<Song>(entityName: "Song") }

    static func model(isIndexed: Bool, _ objectClass: Song.Type = Song.self) -> NSManagedObjectModel {
        let attributes: [(String, NSAttributeType)] = [
            ("title", .stringAttributeType), ("artist", .stringAttributeType), ("duration", .doubleAttributeType),
            ("trackNumber", .integer16AttributeType), ("playCount", .integer64AttributeType), ("addedAt", .dateAttributeType),
            ("isFavorite", .booleanAttributeType), ("uuid", .UUIDAttributeType),
        ]
        let entity = NSEntityDescription()
        entity.name = "Song"
        entity.managedObjectClassName = NSStringFromClass(objectClass)
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        if isIndexed {
            let title = NSFetchIndexElementDescription(property: entity.properties[0], collationType: .binary)
            entity.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [title])]
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }
}

// The harness runs one session at a time on one thread; the conformance is for the closures given to the context.
final class CoreDataSession: Session, @unchecked Sendable {
    private let coordinator: NSPersistentStoreCoordinator
    private let store: NSPersistentStore
    private let context: NSManagedObjectContext
    private let observer: any NSObjectProtocol
    private let workload: Workload
    private var prepared: [Song] = []
    private var identifiers: [NSManagedObjectID] = []

    init(_ url: URL, isIndexed: Bool, workload: Workload) throws {
        self.workload = workload
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Song.model(isIndexed: isIndexed))
        store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        // Most programs listen to saves, and posting to somebody costs more than posting to nobody.
        observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) { _ in }
    }

    func insert(count: Int) throws {
        for range in workload.chunks(of: count) {
            try context.performAndWait {
                for index in range { Song(context: context).assign(workload.songs[index]) }
                try context.save()
            }
        }
    }

    func fetch() throws -> Fetched {
        try context.performAndWait {
            let songs = try context.fetch(Song.request())
            return Fetched(count: songs.count, objects: songs)
        }
    }

    func fetchAndRead() throws -> Tally {
        try context.performAndWait {
            var tally = Tally()
            var seconds = 0.0
            for song in try context.fetch(Song.request()) {
                tally.add(title: song.title ?? "", plays: song.playCount)
                seconds += song.duration
            }
            precondition(seconds > 0, "every song takes time")
            return tally
        }
    }

    func fetchByTitle() throws -> Tally {
        try context.performAndWait {
            var tally = Tally()
            for pick in workload.picks {
                let request = Song.request()
                request.predicate = NSPredicate(format: "title == %@", workload.songs[pick].title)
                guard let song = try context.fetch(request).first else { continue }
                tally.add(title: song.title ?? "", plays: song.playCount)
            }
            return tally
        }
    }

    func count(times: Int) throws -> Counts {
        try context.performAndWait {
            var counts = Counts()
            for _ in 0..<times {
                let request = Song.request()
                counts.all += try context.count(for: request)
                request.predicate = NSPredicate(format: "playCount > %lld", workload.playThreshold)
                counts.matching += try context.count(for: request)
            }
            return counts
        }
    }

    func prepareReadByKey() throws {
        identifiers = try workload.keys.map { key in
            let text = "x-coredata://\(store.identifier ?? "")/Song/p\(key)"
            guard let url = URL(string: text), let identifier = coordinator.managedObjectID(forURIRepresentation: url) else {
                throw WrongResult(description: "ours: no object ID for \(text)")
            }
            return identifier
        }
    }

    func readByKey() throws -> Tally {
        context.performAndWait {
            var tally = Tally()
            for identifier in identifiers {
                guard let song = context.object(with: identifier) as? Song else { continue }
                tally.add(title: song.title ?? "", plays: song.playCount)
            }
            return tally
        }
    }

    func prepareChanges() throws {
        prepared = try context.performAndWait {
            let request = Song.request()
            request.predicate = NSPredicate(format: "addedAt < %@", workload.endOfEdits as NSDate)
            request.sortDescriptors = [NSSortDescriptor(key: "addedAt", ascending: true)]
            return try context.fetch(request)
        }
    }

    func update() throws {
        try context.performAndWait {
            for (song, edit) in zip(prepared, workload.edits) {
                song.title = edit.title
                song.playCount = edit.playCount
            }
            try context.save()
        }
    }

    func delete() throws {
        try context.performAndWait {
            prepared.forEach(context.delete)
            try context.save()
        }
    }

    func close() throws {
        NotificationCenter.default.removeObserver(observer)
        prepared = []
        try coordinator.remove(store)
    }
}
