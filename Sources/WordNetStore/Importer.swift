import CoreData
import WordNetData

/// Imports a lexicon in chunks: insert 10,000 objects, save, reset.
///
/// What outlives a chunk is object IDs, permanent once saved. `object(with:)` turns one into a fault without touching the
/// file, and a fault is enough to set a relationship to. So memory stays flat however much is imported.
struct Importer {
    let lexicon: Lexicon
    let context: NSManagedObjectContext
    let progress: ProgressBar
    private let chunkSize = 10_000

    init(_ lexicon: Lexicon, into context: NSManagedObjectContext, progress: ProgressBar) {
        self.lexicon = lexicon
        self.context = context
        self.progress = progress
    }

    /// Imports every row.
    ///
    /// > Concurrency: runs on the context's queue and waits for it.
    /// - Throws: what `save()` throws. The chunks before are in the file then.
    func run() throws {
        try context.performAndWait {
            let synsets = try importSynsets()
            let words = try importWords()
            let senses = try importSenses(synsets, words)
            try orderSenses(of: words, senses)
            try importPointers(synsets, senses)
            try importFrames(synsets, senses)
        }
    }

    private func importSynsets() throws -> Imported<Synset> {
        try insert(lexicon.synsets) { row in
            let synset = Synset(context: context)
            synset.gloss = lexicon.string(row.gloss)
            synset.partOfSpeech = row.partOfSpeech.rawValue
            synset.lexicographerFile = row.lexicographerFile
            synset.offset = row.offset
            return synset
        }
    }

    private func importWords() throws -> Imported<Word> {
        try insert(lexicon.words) { row in
            let word = Word(context: context)
            word.lemma = lexicon.string(row.lemma)
            return word
        }
    }

    private func importSenses(_ synsets: Imported<Synset>, _ words: Imported<Word>) throws -> Imported<Sense> {
        try insert(lexicon.senses) { row in
            let sense = Sense(context: context)
            sense.text = lexicon.string(row.text)
            sense.number = row.number
            sense.isTagged = row.isTagged
            sense.lexicalID = row.lexicalID
            sense.marker = row.marker?.rawValue
            sense.synset = synsets[row.synset]
            sense.word = words[row.word]
            return sense
        }
    }

    /// Setting a to-one appends to its ordered inverse. That is right for synsets, whose senses come in order;
    /// words whose senses came in another order are put right here.
    private func orderSenses(of words: Imported<Word>, _ senses: Imported<Sense>) throws {
        let unordered = lexicon.words.indices.filter { index in
            let senses = lexicon.words[index].senses
            return zip(senses, senses.dropFirst()).contains { $0 > $1 }
        }
        try inChunks(unordered) { chunk in
            for index in chunk {
                words[Int32(index)].senses = lexicon.words[index].senses.map { senses[$0] }
            }
            try context.save()
        }
    }

    private func importPointers(_ synsets: Imported<Synset>, _ senses: Imported<Sense>) throws {
        try insert(lexicon.pointers) { row in
            let pointer = Pointer(context: context)
            pointer.symbol = row.type.rawValue
            pointer.source = synsets[row.source]
            pointer.target = synsets[row.target]
            pointer.sourceSense = row.sourceSense.map { senses[$0] }
            pointer.targetSense = row.targetSense.map { senses[$0] }
            return pointer
        }
    }

    private func importFrames(_ synsets: Imported<Synset>, _ senses: Imported<Sense>) throws {
        try insert(lexicon.frames) { row in
            let frame = Frame(context: context)
            frame.number = row.number
            frame.synset = synsets[row.synset]
            frame.sense = row.sense.map { senses[$0] }
            return frame
        }
    }

    @discardableResult
    private func insert<Row, Object: NSManagedObject>(_ rows: [Row], _ make: (Row) -> Object) throws -> Imported<Object> {
        var imported = Imported<Object>(context: context)
        try inChunks(rows) { chunk in
            let objects = chunk.map(make)
            try context.save()
            imported.append(objects)
            progress.advance(by: chunk.count)
        }
        return imported
    }

    private func inChunks<Row>(_ rows: [Row], _ body: (ArraySlice<Row>) throws -> Void) rethrows {
        for start in stride(from: 0, to: rows.count, by: chunkSize) {
            try body(rows[start..<min(start + chunkSize, rows.count)])
            context.reset()
        }
    }
}

/// The objects that were made of the rows of one kind, by their row's index.
private struct Imported<Object: NSManagedObject> {
    private let context: NSManagedObjectContext
    private var ids: [NSManagedObjectID] = []

    init(context: NSManagedObjectContext) {
        self.context = context
    }

    /// Adds saved objects: their IDs are permanent.
    mutating func append(_ objects: [Object]) {
        ids += objects.map(\.objectID)
    }

    subscript(row: Int32) -> Object {
        // An ID gives an object of its entity's class, and these IDs come from objects of this class.
        context.object(with: ids[Int(row)]) as! Object
    }
}
