import Foundation

extension Lexicon {
    /// Reads WordNet's four data files and four index files.
    ///
    /// Everything is checked before anything is returned: the form of each field, that pointers lead to synsets and words
    /// that exist, and that each index lists exactly the senses of its data file.
    ///
    /// - Throws: `WordNetDataError` for the first file and line that is missing or damaged.
    public init(contentsOf folder: URL) throws {
        var builder = LexiconBuilder(folder: folder)
        for category in Category.allCases { try builder.readData(category) }
        try builder.resolvePointers()
        for category in Category.allCases { try builder.readIndex(category) }
        try builder.checkThatEachSenseIsIndexed()
        self = builder.lexicon
    }
}

/// A lexicon in the making, and what is needed only until it is complete.
struct LexiconBuilder {
    /// A pointer as its line has it: by offset and word numbers.
    struct UnresolvedPointer {
        let type: PointerType
        let source: Int32
        let sourceWord: UInt8
        let targetWord: UInt8
        let target: Category
        let offset: Int32
    }

    let folder: URL
    var lexicon = Lexicon()
    /// Which synsets come from which data file, by category.
    var synsetsOfCategory: [Range<Int>] = []
    /// The line of each synset in its data file.
    var lines: [Int32] = []
    var unresolvedPointers: [UnresolvedPointer] = []
    var wordsByLemma: [String: Int32] = [:]

    init(folder: URL) {
        self.folder = folder
    }

    /// The synset that begins at a byte of a data file. Synsets are in the order of their file, so in that of their offsets.
    ///
    /// - Complexity: O(log *n*).
    func synset(at offset: Int, in category: Category) -> Int? {
        let all = synsetsOfCategory[category.rawValue]
        var (low, high) = (all.lowerBound, all.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if lexicon.synsets[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low < all.upperBound && lexicon.synsets[low].offset == offset ? low : nil
    }

    mutating func resolvePointers() throws {
        lexicon.pointers.reserveCapacity(unresolvedPointers.count)
        for pointer in unresolvedPointers { lexicon.pointers.append(try resolved(pointer)) }
        unresolvedPointers = []
        lexicon.pointers.sort { $0.laterEnd < $1.laterEnd }
    }

    private func resolved(_ pointer: UnresolvedPointer) throws -> Lexicon.Pointer {
        guard let target = synset(at: Int(pointer.offset), in: pointer.target) else {
            throw failure(
                inLineOf: pointer.source,
                "a pointer leads to offset \(pointer.offset) in \(pointer.target.dataFile), where no synset begins"
            )
        }
        let targetSenses = lexicon.synsets[target].senses
        guard pointer.targetWord <= targetSenses.count else {
            throw failure(
                inLineOf: pointer.source,
                "a pointer leads to word \(pointer.targetWord) of the synset at \(pointer.offset) in "
                    + "\(pointer.target.dataFile), which has \(targetSenses.count)"
            )
        }
        return Lexicon.Pointer(
            type: pointer.type,
            source: pointer.source,
            target: Int32(target),
            sourceSense: lexicon.synsets[Int(pointer.source)].sense(pointer.sourceWord),
            targetSense: lexicon.synsets[target].sense(pointer.targetWord)
        )
    }

    func checkThatEachSenseIsIndexed() throws {
        guard let sense = lexicon.senses.first(where: { $0.number == 0 }) else { return }
        let category = lexicon.synsets[Int(sense.synset)].partOfSpeech.category
        throw failure(
            inLineOf: sense.synset,
            "\"\(lexicon.string(sense.text))\" is not listed with this synset in \(category.indexFile)"
        )
    }

    private func failure(inLineOf synset: Int32, _ message: String) -> WordNetDataError {
        let file = lexicon.synsets[Int(synset)].partOfSpeech.category.dataFile
        return WordNetDataError(
            file: folder.appendingPathComponent(file).path,
            line: Int(lines[Int(synset)]),
            message: message
        )
    }
}

extension Lexicon.Synset {
    /// The sense with a word number, which counts from 1; nil for 0, which means the synset as a whole.
    fileprivate func sense(_ number: UInt8) -> Int32? {
        number == 0 ? nil : senses.lowerBound + Int32(number) - 1
    }
}
