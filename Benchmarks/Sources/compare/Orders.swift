import CoreData
import Foundation

/// What has many tracks, in an order.
final class Album: NSManagedObject {
    static let tracksKey = OrderedToMany<Track>("tracks")

    var tracks: [Track] { self[Album.tracksKey] }

    static func model() -> NSManagedObjectModel {
        Album.register()
        Track.register()
        let (album, track) = (NSEntityDescription(), NSEntityDescription())
        (album.name, album.managedObjectClassName) = ("Album", NSStringFromClass(Album.self))
        (track.name, track.managedObjectClassName) = ("Track", NSStringFromClass(Track.self))
        let number = NSAttributeDescription()
        (number.name, number.attributeType, number.defaultValue) = ("number", .integer64AttributeType, 0)
        let (tracks, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (tracks.name, tracks.destinationEntity, tracks.inverseRelationship) = ("tracks", track, owner)
        (tracks.maxCount, tracks.isOrdered, tracks.deleteRule) = (0, true, .cascadeDeleteRule)
        (owner.name, owner.destinationEntity, owner.inverseRelationship, owner.maxCount) = ("album", album, tracks, 1)
        album.properties = [tracks]
        track.properties = [number, owner]
        let model = NSManagedObjectModel()
        model.entities = [album, track]
        return model
    }
}

final class Track: NSManagedObject {
    static let numberKey = Attribute<Int64>("number")

    var number: Int64 {
        get { self[Track.numberKey] }
        set { self[Track.numberKey] = newValue }
    }

    convenience init(_ number: Int, in context: NSManagedObjectContext) {
        self.init(context: context)
        self.number = Int64(number)
    }
}

/// How a track comes to its album.
enum Appending { case typed, byOrderedSet }

extension Bench {
    /// New tracks, appended one after the other.
    func orderedAppend(_ appending: Appending, count: Int? = nil) throws -> Double {
        let count = count ?? workload.songs.count / 5
        return try withAlbum(of: 0) { _, coordinator in
            let context = makeContext(coordinator, nil)
            let album = Album(context: context)
            let seconds = cpuSeconds {
                for number in 0..<count {
                    let track = Track(number, in: context)
                    switch appending {
                    case .typed: album.add(track, to: Album.tracksKey)
                    case .byOrderedSet: album.mutableOrderedSetValue(forKey: "tracks").add(track)
                    }
                }
            }.seconds
            try expect(album.tracks.map(\.number), (0..<count).map(Int64.init))
            return seconds
        }
    }

    /// Twenty saves of one addition each to an album that has been read, through so many layers.
    func orderedSaveOne(members: Int, layers: Int) throws -> Double {
        let saves = 20
        return try withAlbum(of: members) { url, coordinator in
            var contexts: [NSManagedObjectContext] = []
            for _ in 0..<layers { contexts.append(makeContext(coordinator, contexts.last)) }
            let albums = try contexts.map { try $0.fetch(NSFetchRequest<Album>(entityName: "Album"))[0] }
            // Whoever shows the album and whoever changes it have read it.
            for album in albums.suffix(2) { try expect(album.tracks.count, members) }
            let seconds = try cpuSeconds {
                for number in 0..<saves {
                    albums[layers - 1].add(Track(members + number, in: contexts[layers - 1]), to: Album.tracksKey)
                    for context in contexts.reversed() { try context.save() }
                }
            }.seconds
            try expect(numbers(at: url), (0..<members + saves).map(Int64.init))
            return seconds
        }
    }

    private func makeContext(_ coordinator: NSPersistentStoreCoordinator, _ parent: NSManagedObjectContext?) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
        return context
    }

    private func coordinator(at url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Album.model())
        _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        return coordinator
    }

    /// A store with one saved album, and a coordinator that has read nothing of it.
    private func withAlbum<R>(of members: Int, _ body: (URL, NSPersistentStoreCoordinator) throws -> R) throws -> R {
        try withScratchDirectory { directory in
            let url = directory.appendingPathComponent("album.sqlite")
            if members > 0 {
                let context = makeContext(try coordinator(at: url), nil)
                let album = Album(context: context)
                for number in 0..<members { album.add(Track(number, in: context), to: Album.tracksKey) }
                try context.save()
            }
            return try body(url, coordinator(at: url))
        }
    }

    private func numbers(at url: URL) throws -> [Int64] {
        let context = makeContext(try coordinator(at: url), nil)
        return try context.fetch(NSFetchRequest<Album>(entityName: "Album")).flatMap { $0.tracks.map(\.number) }
    }

    private func expect<T: Equatable>(_ found: T, _ expected: T) throws {
        if found != expected { throw WrongResult(description: "The album has other tracks, or in another order, than were put in.") }
    }
}
