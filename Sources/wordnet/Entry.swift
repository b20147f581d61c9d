import WordNetData
import WordNetStore

/// A word's senses as people read them: synonyms, gloss, and the ways up from hypernym to hypernym.
func entryText(of word: Word) -> String {
    var lines = [word.lemma] + (word.note.map { wrap($0, first: "  note: ", indent: 8) } ?? [])
    var heading = ""
    var previous: Synset?
    for sense in word.senses {
        // Two spellings of the word in one synset make one entry.
        guard let synset = sense.synset, synset !== previous else { continue }
        previous = synset
        let partOfSpeech = PartOfSpeech(rawValue: synset.partOfSpeech)?.indexed.name ?? synset.partOfSpeech
        if partOfSpeech != heading { lines += ["", partOfSpeech] }
        heading = partOfSpeech
        lines += senseLines(sense.number, synset)
    }
    return lines.joined(separator: "\n")
}

private func senseLines(_ number: Int16, _ synset: Synset) -> [String] {
    let synonyms = synset.senses.map(\.text).joined(separator: ", ")
    let paths = synset.hypernymPaths().map { path in
        "→ " + path.map { $0.senses.first?.text ?? "?" }.joined(separator: " → ")
    }
    let label = String(repeating: " ", count: number < 10 ? 2 : 1) + "\(number)  "
    return wrap(synonyms, first: label) + wrap(synset.gloss) + paths.flatMap { wrap($0, indent: 7) }
}

/// Breaks a text at spaces into lines of at most 80 characters, where its words allow.
private func wrap(_ text: String, first: String = "     ", indent: Int = 5) -> [String] {
    var lines = [first]
    for (index, word) in text.split(separator: " ").enumerated() {
        if lines[lines.count - 1].count + word.count + 1 > 80, index > 0 {
            lines.append(String(repeating: " ", count: indent) + word)
        } else {
            lines[lines.count - 1] += index == 0 ? "" + word : " " + word
        }
    }
    return lines
}
