/// The data files: a line for each synset, as wndb(5WN) describes them.
extension LexiconBuilder {
    mutating func readData(_ category: Category) throws {
        var reader = try LineReader(category.dataFile, in: folder)
        lexicon.texts.reserve(reader.count)
        let first = lexicon.synsets.count
        while try reader.nextLine() { try readSynset(&reader, category) }
        guard lexicon.synsets.count > first else { throw reader.failure("expected a synset, found the end of the file") }
        synsetsOfCategory.append(first..<lexicon.synsets.count)
    }

    private mutating func readSynset(_ reader: inout LineReader, _ category: Category) throws {
        let offset = try reader.number("a synset's offset in 8 digits", digits: 8)
        guard offset == reader.lineStart else {
            throw reader.failure("expected the line's own offset, \(reader.lineStart), found \(offset)")
        }
        let lexicographerFile = try reader.number("a lexicographer's file number, 00 to 44", digits: 2, in: 0...44)
        let letter = try reader.byte("a synset type: n, v, a, s or r")
        guard let partOfSpeech = PartOfSpeech(letter: letter), partOfSpeech.category == category else {
            throw reader.failure("expected a synset type of \(category.dataFile), found \"\(UnicodeScalar(letter))\"")
        }
        let senses = try readWords(&reader, category)
        try readPointers(&reader, wordCount: senses.count)
        if category == .verb { try readFrames(&reader, senses) }
        try reader.literal(UInt8(ascii: "|"), "the bar before the gloss")
        let gloss = try reader.rest("a gloss in UTF-8")
        lexicon.synsets.append(
            Lexicon.Synset(
                partOfSpeech: partOfSpeech,
                offset: Int32(offset),
                lexicographerFile: Int16(lexicographerFile),
                gloss: lexicon.texts.append(reader[gloss]),
                senses: senses
            )
        )
        lines.append(Int32(reader.line))
    }

    private mutating func readWords(_ reader: inout LineReader, _ category: Category) throws -> Range<Int32> {
        let first = Int32(lexicon.senses.count)
        let count = try reader.number("a number of words in 2 hexadecimal digits", base: 16, digits: 2, in: 1...0xff)
        for _ in 0..<count {
            let (word, marker) = try readWord(&reader, category)
            let lexicalID = try reader.number("a lexical ID in 1 hexadecimal digit", base: 16, digits: 1)
            lexicon.senses.append(
                Lexicon.Sense(
                    synset: Int32(lexicon.synsets.count),
                    word: 0,
                    text: lexicon.texts.append(word: reader[word]),
                    number: 0,
                    isTagged: false,
                    lexicalID: Int16(lexicalID),
                    marker: marker
                )
            )
        }
        return first..<first + Int32(count)
    }

    /// A word and, of an adjective, the marker in parentheses at its end.
    private func readWord(
        _ reader: inout LineReader,
        _ category: Category
    ) throws -> (word: Range<Int>, marker: Lexicon.Marker?) {
        let field = try reader.field("a word")
        guard category == .adjective, reader[field].last == UInt8(ascii: ")"),
            let parenthesis = reader[field].lastIndex(of: UInt8(ascii: "("))
        else { return (field, nil) }
        let symbol = String(decoding: reader[parenthesis + 1..<field.upperBound - 1], as: UTF8.self)
        guard let marker = Lexicon.Marker(rawValue: symbol), parenthesis > field.lowerBound else {
            throw reader.mismatch("a word, perhaps with a marker (p), (a) or (ip)", field)
        }
        return (field.lowerBound..<parenthesis, marker)
    }

    private mutating func readPointers(_ reader: inout LineReader, wordCount: Int) throws {
        let count = try reader.number("a number of pointers in 3 digits", digits: 3)
        for _ in 0..<count {
            let symbol = try reader.field("a pointer symbol")
            guard let type = PointerType(symbol: reader[symbol]) else { throw reader.mismatch("a pointer symbol", symbol) }
            let offset = try reader.number("the offset of a pointer's target in 8 digits", digits: 8)
            let letter = try reader.byte("the part of speech of a pointer's target")
            guard let target = PartOfSpeech(letter: letter) else {
                throw reader.failure("expected the part of speech of a pointer's target, found \"\(UnicodeScalar(letter))\"")
            }
            let words = try reader.number("a pointer's word numbers in 4 hexadecimal digits", base: 16, digits: 4)
            let (sourceWord, targetWord) = (words >> 8, words & 0xff)
            guard sourceWord <= wordCount, (sourceWord == 0) == (targetWord == 0) else {
                throw reader.failure("expected 0000 or a word of this synset, 1 to \(wordCount), and one of the target's")
            }
            unresolvedPointers.append(
                UnresolvedPointer(
                    type: type,
                    source: Int32(lexicon.synsets.count),
                    sourceWord: UInt8(sourceWord),
                    targetWord: UInt8(targetWord),
                    target: target.category,
                    offset: Int32(offset)
                )
            )
        }
    }

    private mutating func readFrames(_ reader: inout LineReader, _ senses: Range<Int32>) throws {
        let count = try reader.number("a number of verb frames in 2 digits", digits: 2)
        for _ in 0..<count {
            try reader.literal(UInt8(ascii: "+"), "the plus sign before a verb frame")
            let number = try reader.number("a verb frame's number, 01 to 35", digits: 2, in: 1...35)
            let word = try reader.number("a verb frame's word number in 2 hexadecimal digits", base: 16, digits: 2)
            guard word <= senses.count else {
                throw reader.failure("expected the number of a word of this synset, 0 to \(senses.count), found \(word)")
            }
            lexicon.frames.append(
                Lexicon.Frame(
                    number: Int16(number),
                    synset: Int32(lexicon.synsets.count),
                    sense: word == 0 ? nil : senses.lowerBound + Int32(word) - 1
                )
            )
        }
    }
}
