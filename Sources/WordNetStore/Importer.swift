import CoreData
import WordNetData

/// Imports a lexicon in chunks: insert about 10,000 objects, save, reset.
///
/// Walks the synsets once. With a synset come its senses, the words that were not met before, its frames, and the pointers to and from
/// what is there already. So an owner is mostly saved together with its members, and is seldom touched again by a later save.
///
/// What outlives a chunk is object IDs, permanent once saved. `object(with:)` turns one into a fault without touching the file, and a
/// fault is enough to set a relationship to. So memory stays flat however much is imported.
struct Importer {
    private static let chunkSize = 10_000

    private let lexicon: Lexicon
    private let context: NSManagedObjectContext
    private let progress: (Int) -> Void
    private var synsets: Imported<Synset>
    private var senses: Imported<Sense>
    private var words: Imported<Word>
    private var frames: ArraySlice<Lexicon.Frame>
    private var pointers: ArraySlice<Lexicon.Pointer>
    /// How many objects the context has that are not saved yet.
    private var unsaved = 0

    /// - Parameter progress: called after each save with the number of rows that it inserted.
    init(_ lexicon: Lexicon, into context: NSManagedObjectContext, progress: @escaping (Int) -> Void) {
        self.lexicon = lexicon
        self.context = context
        self.progress = progress
        synsets = Imported(count: lexicon.synsets.count, context)
        senses = Imported(count: lexicon.senses.count, context)
        words = Imported(count: lexicon.words.count, context)
        frames = lexicon.frames[...]
        pointers = lexicon.pointers[...]
    }

    /// Imports every row.
    ///
    /// > Concurrency: on the context's queue.
    /// - Throws: what `save()` throws. The chunks before are in the file then.
    mutating func run() throws {
        for index in lexicon.synsets.indices {
            insertSynset(Int32(index))
            if unsaved >= Self.chunkSize { try saveChunk() }
        }
        try saveChunk()
    }

    private mutating func saveChunk() throws {
        try context.save()
        synsets.keepIDs()
        senses.keepIDs()
        words.keepIDs()
        context.reset()
        progress(unsaved)
        unsaved = 0
    }

    private mutating func insert<Object: NSManagedObject>(_ type: Object.Type) -> Object {
        unsaved += 1
        return Object(context: context)
    }
}

extension Importer {
    private mutating func insertSynset(_ index: Int32) {
        let row = lexicon.synsets[Int(index)]
        let synset = insert(Synset.self)
        synset.gloss = lexicon.string(row.gloss)
        synset.partOfSpeech = row.partOfSpeech.rawValue
        synset.lexicographerFile = row.lexicographerFile
        synset.offset = row.offset
        synsets.add(synset, for: index)
        for sense in row.senses { insertSense(sense, of: synset) }
        while let frame = frames.first, frame.synset == index {
            insertFrame(frame)
            frames.removeFirst()
        }
        while let pointer = pointers.first, pointer.laterEnd == index {
            insertPointer(pointer)
            pointers.removeFirst()
        }
    }

    private mutating func insertSense(_ index: Int32, of synset: Synset) {
        let row = lexicon.senses[Int(index)]
        let sense = insert(Sense.self)
        sense.text = lexicon.string(row.text)
        sense.number = row.number
        sense.isTagged = row.isTagged
        sense.lexicalID = row.lexicalID
        sense.marker = row.marker?.rawValue
        sense.synset = synset
        senses.add(sense, for: index)
        if !words.contains(row.word) { insertWord(row.word) }
        sense.word = words[row.word]
        orderSenses(ofWord: row.word, latest: index)
    }

    private mutating func insertWord(_ index: Int32) {
        let word = insert(Word.self)
        word.lemma = lexicon.string(lexicon.words[Int(index)].lemma)
        words.add(word, for: index)
    }

    /// Setting a to-one appends to its ordered inverse. That is right for synsets, whose senses come in order; a word whose senses came
    /// in another order is put right when it has all.
    private func orderSenses(ofWord index: Int32, latest: Int32) {
        let order = lexicon.words[Int(index)].senses
        guard order.max() == latest, zip(order, order.dropFirst()).contains(where: >) else { return }
        words[index].senses = order.map { senses[$0] }
    }

    private mutating func insertFrame(_ row: Lexicon.Frame) {
        let frame = insert(Frame.self)
        frame.number = row.number
        frame.synset = synsets[row.synset]
        frame.sense = row.sense.map { senses[$0] }
    }

    private mutating func insertPointer(_ row: Lexicon.Pointer) {
        let pointer = insert(Pointer.self)
        pointer.symbol = row.type.rawValue
        pointer.source = synsets[row.source]
        pointer.target = synsets[row.target]
        pointer.sourceSense = row.sourceSense.map { senses[$0] }
        pointer.targetSense = row.targetSense.map { senses[$0] }
    }
}
