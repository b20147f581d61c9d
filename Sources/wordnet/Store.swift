import CoreData
import WordNetData

/// A WordNet store: one SQLite file behind a persistent container.
struct Store {
    private let container: NSPersistentContainer

    /// Opens a store that an import has made.
    init(at url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw Failure(description: "There is no store at \(url.path); make one with: wordnet import --store \(url.path)")
        }
        container = try Self.load(url)
    }

    /// Imports the WordNet files of `folder` into a new store, and says how it goes.
    ///
    /// The store is made in a folder beside `url` and moved there when it is complete; after an error there is nothing.
    ///
    /// - Throws: `WordNetDataError` before anything is written; `Failure` when there is a file at `url` already; what a save throws.
    static func create(at url: URL, importing folder: URL) throws {
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw Failure(description: "There is a file at \(url.path) already; remove it or name another one.")
        }
        let start = ContinuousClock.now
        let lexicon = try Lexicon(contentsOf: folder)
        print("Read \(lexicon.rowCount.grouped) rows from \(folder.path) in \(start.duration(to: .now).inSeconds).")
        let workshop = url.appendingPathExtension("partial")
        try? FileManager.default.removeItem(at: workshop)
        try FileManager.default.createDirectory(at: workshop, withIntermediateDirectories: true)
        // Nothing is lost in it: a store that is complete has left.
        defer { try? FileManager.default.removeItem(at: workshop) }
        let unfinished = workshop.appendingPathComponent(url.lastPathComponent)
        try fill(unfinished, with: lexicon)
        try FileManager.default.moveItem(at: unfinished, to: url)
    }

    private static func fill(_ url: URL, with lexicon: Lexicon) throws {
        let start = ContinuousClock.now
        let container = try load(url)
        let context = container.newBackgroundContext()
        try Importer(lexicon, into: context, progress: ProgressBar(total: lexicon.rowCount)).run()
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let duration = start.duration(to: .now)
        print(
            "Imported \(lexicon.rowCount.grouped) rows in \(duration.inSeconds): "
                + "\(duration.rate(of: lexicon.rowCount).grouped) rows/s, peak memory \(peakMemory() >> 20) MB."
        )
    }

    private static func load(_ url: URL) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "WordNet", managedObjectModel: Model.make())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    /// The entry of a word, in any case, with spaces or underscores.
    ///
    /// - Throws: `Failure` when WordNet has no such word.
    func entry(for word: String) throws -> String {
        let request = NSFetchRequest<Word>(entityName: "Word")
        let lemma = word.lowercased().replacingOccurrences(of: "_", with: " ")
        request.predicate = NSPredicate(format: "lemma == %@", lemma)
        return try container.viewContext.performAndWait {
            guard let found = try container.viewContext.fetch(request).first else {
                throw Failure(description: "WordNet has no word \"\(word)\".")
            }
            return entryText(of: found)
        }
    }

    /// How many objects of which kind there are, as a table.
    func statistics() throws -> String {
        let context = container.viewContext
        return try context.performAndWait {
            var table = Table()
            for entity in ["Synset", "Word", "Sense", "Pointer", "Frame"] {
                table.add(entity, try count(entity))
            }
            table.beginSection("Synsets by part of speech")
            for part in PartOfSpeech.allCases {
                table.add(part.name, try count("Synset", "partOfSpeech == %@", part.rawValue))
            }
            table.beginSection("Pointers by type")
            for type in PointerType.allCases {
                table.add(type.name, try count("Pointer", "symbol == %@", type.rawValue))
            }
            return table.description
        }
    }

    private func count(_ entity: String, _ format: String? = nil, _ argument: String = "") throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argument) }
        return try container.viewContext.count(for: request)
    }
}
