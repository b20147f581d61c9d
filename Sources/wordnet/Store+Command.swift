import CoreData
import CoreDataStack
import WordNetData
import WordNetStore

extension Store {
    /// Opens a store that an import has made, and closes it when `use` is done, so that nothing lies beside the file.
    ///
    /// - Throws: `Failure` when there is none; a `CocoaError` when it is none of WordNet's; what `use` throws.
    static func opened(at url: URL, _ use: (Store) async throws -> Void) async throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw Failure(description: "There is no store at \(url.path); make one with: wordnet import --store \(url.path)")
        }
        // NB: a store would be made of an empty file.
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        let store = try await Store(at: url)
        do {
            try await use(store)
        } catch {
            // The error says what was wrong first.
            try? store.close()
            throw error
        }
        try store.close()
    }

    /// Imports the WordNet files of `folder` into a new store, while the main context answers questions, and says how it goes.
    ///
    /// - Throws: `WordNetDataError`, or what `make` and `importRows` throw. There is no store then.
    static func create(at url: URL, importing folder: URL) async throws {
        let start = ContinuousClock.now
        let lexicon = try Lexicon(contentsOf: folder)
        print("Read \(lexicon.rowCount.grouped) rows from \(folder.path) in \(start.duration(to: .now).inSeconds).")
        let progress = ProgressBar(total: lexicon.rowCount)
        let answers = try await make(at: url) { store in
            let questions = Task { try await store.askMain() }
            defer { questions.cancel() }
            try await store.importRows(of: lexicon, progress: progress.advance)
            questions.cancel()
            return try await questions.value
        }
        print(
            "Imported \(lexicon.rowCount.grouped) rows in \(progress.elapsed.inSeconds): "
                + "\(progress.elapsed.rate(of: lexicon.rowCount).grouped) rows/s, peak memory \(peakMemory() >> 20) MB."
        )
        print("Meanwhile the main context answered \(answers.count.grouped) questions, the slowest in \(answers.slowest.inMilliseconds).")
    }

    /// Looks a word up in the main context, as a user would, again and again until the task is cancelled.
    private func askMain() async throws -> (count: Int, slowest: Duration) {
        let (main, clock) = (stack.mainQueueContext, ContinuousClock())
        var (count, slowest) = (0, Duration.zero)
        repeat {
            let start = clock.now
            _ = try await main.perform { try Word.named("dog", in: main)?.senses.map(\.text) }
            slowest = max(slowest, start.duration(to: clock.now))
            count += 1
            try? await Task.sleep(for: .milliseconds(10))
        } while !Task.isCancelled
        return (count, slowest)
    }

    /// The entry of a word, in any case, with spaces or underscores.
    ///
    /// - Throws: `Failure` when WordNet has no such word.
    func entry(for word: String) async throws -> String {
        let main = stack.mainQueueContext
        return try await main.perform {
            guard let found = try Word.named(word, in: main) else { throw Failure(noWord: word) }
            return entryText(of: found)
        }
    }

    /// Writes a note beside a word, and shows that it has come through all layers into the file.
    ///
    /// - Throws: `Failure` when WordNet has no such word.
    func annotateAndProve(_ word: String, _ note: String) async throws {
        guard try await annotate(word, with: note) else { throw Failure(noWord: word) }
        print("A worker saved the note; a second coordinator reads in the file: \(try noteInFile(beside: word) ?? "nothing")")
    }

    /// Empties the store, and shows that it can be used as before.
    func logOutAndProve() async throws {
        try await logOut()
        print("Logged out: \(try await count("Synset").grouped) synsets and \(try await count("Word").grouped) words are left.")
        let worker = stack.newChildContext()
        await worker.perform { Word(context: worker).lemma = "hello" }
        try await worker.saveToStore()
        let found = try await count("Word")
        try await worker.perform { try Word.named("hello", in: worker).map(worker.delete) }
        try await worker.saveToStore()
        print("The stack works on: a worker saved \(found) word, main found it, and it is deleted again.")
    }
}

extension Store {
    /// How many objects of which kind there are, as a table.
    func statistics() async throws -> String {
        var table = Table()
        for entity in ["Synset", "Word", "Sense", "Pointer", "Frame"] { table.add(entity, try await count(entity)) }
        table.beginSection("Synsets by part of speech")
        for part in PartOfSpeech.allCases {
            table.add(part.name, try await count("Synset", where: "partOfSpeech == %@", part.rawValue))
        }
        table.beginSection("Pointers by type")
        for type in PointerType.allCases { table.add(type.name, try await count("Pointer", where: "symbol == %@", type.rawValue)) }
        return table.description
    }

    private func count(_ entity: String, where format: String? = nil, _ argument: String = "") async throws -> Int {
        let main = stack.mainQueueContext
        return try await main.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = format.map { NSPredicate(format: $0, argument) }
            return try main.count(for: request)
        }
    }
}
