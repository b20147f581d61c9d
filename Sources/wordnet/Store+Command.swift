import CoreData
import WordNetData
import WordNetStore

extension Store {
    /// Opens a store that an import has made.
    ///
    /// - Throws: `Failure` when there is none; a `CocoaError` when it is none of WordNet's.
    static func existing(at url: URL) throws -> Store {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw Failure(description: "There is no store at \(url.path); make one with: wordnet import --store \(url.path)")
        }
        return try Store(at: url)
    }

    /// Imports the WordNet files of `folder` into a new store, and says how it goes.
    ///
    /// - Throws: `WordNetDataError`, or what `Lexicon.importIntoStore` throws. There is no store then.
    static func create(at url: URL, importing folder: URL) throws {
        let start = ContinuousClock.now
        let lexicon = try Lexicon(contentsOf: folder)
        print("Read \(lexicon.rowCount.grouped) rows from \(folder.path) in \(start.duration(to: .now).inSeconds).")
        let progress = ProgressBar(total: lexicon.rowCount)
        try lexicon.importIntoStore(at: url, progress: progress.advance)
        print(
            "Imported \(lexicon.rowCount.grouped) rows in \(progress.elapsed.inSeconds): "
                + "\(progress.elapsed.rate(of: lexicon.rowCount).grouped) rows/s, peak memory \(peakMemory() >> 20) MB."
        )
    }

    /// The entry of a word, in any case, with spaces or underscores.
    ///
    /// - Throws: `Failure` when WordNet has no such word.
    func entry(for word: String) throws -> String {
        let request = NSFetchRequest<Word>(entityName: "Word")
        request.predicate = NSPredicate(format: "lemma == %@", word.lowercased().replacingOccurrences(of: "_", with: " "))
        return try context.performAndWait {
            guard let found = try context.fetch(request).first else {
                throw Failure(description: "WordNet has no word \"\(word)\".")
            }
            return entryText(of: found)
        }
    }

    /// How many objects of which kind there are, as a table.
    func statistics() throws -> String {
        try context.performAndWait {
            var table = Table()
            for entity in ["Synset", "Word", "Sense", "Pointer", "Frame"] {
                table.add(entity, try count(entity))
            }
            table.beginSection("Synsets by part of speech")
            for part in PartOfSpeech.allCases {
                table.add(part.name, try count("Synset", NSPredicate(format: "partOfSpeech == %@", part.rawValue)))
            }
            table.beginSection("Pointers by type")
            for type in PointerType.allCases {
                table.add(type.name, try count("Pointer", NSPredicate(format: "symbol == %@", type.rawValue)))
            }
            return table.description
        }
    }

    private func count(_ entity: String, _ predicate: NSPredicate? = nil) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        return try context.count(for: request)
    }
}
