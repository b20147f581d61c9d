/// The index files: a line for each word, with its synsets in the order of its sense numbers.
extension LexiconBuilder {
    mutating func readIndex(_ category: Category) throws {
        var reader = try LineReader(category.indexFile, in: folder)
        var previous: Range<Int>?
        while try reader.nextLine() {
            let lemma = try reader.field("a lemma")
            if let previous, !reader[previous].lexicographicallyPrecedes(reader[lemma]) {
                throw reader.mismatch("a lemma that sorts after the line before", lemma)
            }
            try readEntry(&reader, category, word: word(reader[lemma]))
            previous = lemma
        }
        guard previous != nil else { throw reader.failure("expected a lemma, found the end of the file") }
    }

    /// The word with a lemma, new when no index before had it.
    private mutating func word(_ lemma: ArraySlice<UInt8>) -> Int32 {
        let key = String(decoding: lemma, as: UTF8.self)
        if let word = wordsByLemma[key] { return word }
        let word = Int32(lexicon.words.count)
        lexicon.words.append(Lexicon.Word(lemma: lexicon.texts.append(word: lemma), senses: []))
        wordsByLemma[key] = word
        return word
    }

    private mutating func readEntry(_ reader: inout LineReader, _ category: Category, word: Int32) throws {
        try reader.literal(category.letter, "the letter of the file's part of speech")
        let synsetCount = try reader.number("a number of synsets", in: 1...Int(Int16.max))
        let symbolCount = try reader.number("a number of pointer symbols")
        for _ in 0..<symbolCount { _ = try reader.field("a pointer symbol") }
        let senseCount = try reader.number("a number of senses")
        guard senseCount == synsetCount else {
            throw reader.failure("expected as many senses as synsets, \(synsetCount), found \(senseCount)")
        }
        let taggedCount = try reader.number("a number of tagged senses, at most that of senses", in: 0...senseCount)
        for number in 1...senseCount {
            let offset = try reader.number("a synset's offset in 8 digits", digits: 8)
            guard let synset = synset(at: offset, in: category) else {
                throw reader.failure("offset \(offset) is listed, but no synset begins there in \(category.dataFile)")
            }
            guard try addSenses(of: word, in: synset, number: number, isTagged: number <= taggedCount, reader) else {
                throw reader.failure("the synset at \(offset) in \(category.dataFile) does not contain this lemma")
            }
        }
        try reader.endOfLine()
    }

    /// Gives the senses that spell `word` in `synset` their number; false when there are none.
    private mutating func addSenses(
        of word: Int32,
        in synset: Int,
        number: Int,
        isTagged: Bool,
        _ reader: LineReader
    ) throws -> Bool {
        let lemma = lexicon.words[Int(word)].lemma
        var isFound = false
        for sense in lexicon.synsets[synset].senses
        where lexicon.texts.isSpelling(lexicon.senses[Int(sense)].text, of: lemma) {
            guard lexicon.senses[Int(sense)].number == 0 else {
                throw reader.failure("the synset at \(lexicon.synsets[synset].offset) is listed twice")
            }
            lexicon.senses[Int(sense)].word = word
            lexicon.senses[Int(sense)].number = Int16(number)
            lexicon.senses[Int(sense)].isTagged = isTagged
            lexicon.words[Int(word)].senses.append(sense)
            isFound = true
        }
        return isFound
    }
}
