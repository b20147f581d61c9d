import CoreData
import Foundation

extension Bench {
    /// A thousand saves of one changed song among 100,000, with a controller that keeps them sorted and in sections, or without.
    func controlledSaves(_ side: any Side, isControlled: Bool) throws -> Double {
        let saves = 1_000
        let count = workload.songs.count / 5
        let url = try filledStore(side, count: count)
        return try withScratchDirectory { directory in
            let copy = directory.appendingPathComponent("songs.sqlite")
            try FileManager.default.copyItem(at: url, to: copy)
            return try withContext(copy, Song.model(isIndexed: false)) { context in
                let request = Song.request()
                request.sortDescriptors = ["artist", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
                let controller = NSFetchedResultsController(
                    fetchRequest: request,
                    managedObjectContext: context,
                    sectionNameKeyPath: "artist",
                    cacheName: nil
                )
                let follower = Follower()
                if isControlled {
                    controller.delegate = follower
                    try controller.performFetch()
                }
                let songs = try context.fetch(request)
                let seconds = try cpuSeconds {
                    for number in 0..<saves {
                        let song = songs[number * 7919 % count]
                        song.title = "Changed \(number)"
                        try context.save()
                    }
                }.seconds
                try expect(follower.changeCount, isControlled ? saves : 0, side, "changes told")
                return seconds
            }.1
        }
    }

    /// How much longer two scans at once take than one, by the clock on the wall.
    func twoReaders(_ side: any Side) throws -> Double {
        let url = try filledStore(side)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Song.model(isIndexed: false))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let alone = try scan(readers: 1, coordinator)
        let together = try scan(readers: 2, coordinator)
        try coordinator.remove(store)
        return together / alone
    }

    private func scan(readers: Int, _ coordinator: NSPersistentStoreCoordinator) throws -> Double {
        let contexts = (0..<readers).map { _ in
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        let group = DispatchGroup()
        let start = ContinuousClock.now
        for context in contexts {
            group.enter()
            context.perform {
                let songs = (try? context.fetch(Song.request())) ?? []
                let plays = songs.reduce(0) { $0 + $1.playCount }
                precondition(plays > 0, "every scan reads songs")
                group.leave()
            }
        }
        group.wait()
        return (ContinuousClock.now - start) / .seconds(1)
    }
}

private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
    var changeCount = 0

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { changeCount += 1 }
}
