import CoreData

/// A word in a synset.
public final class Sense: NSManagedObject {
    private enum Keys {
        static let text = Attribute<String>("text")
        static let number = Attribute<Int16>("number")
        static let isTagged = Attribute<Bool>("isTagged")
        static let lexicalID = Attribute<Int16>("lexicalID")
        static let marker = Attribute<String?>("marker")
        static let synset = ToOne<Synset>("synset")
        static let word = ToOne<Word>("word")
        static let pointers = ToMany<Pointer>("pointers")
        static let frames = ToMany<Frame>("frames")
    }

    /// The word as the synset spells it.
    public var text: String {
        get { self[Keys.text] }
        set { self[Keys.text] = newValue }
    }
    /// From 1 within the word's part of speech; the most frequent sense comes first.
    public var number: Int16 {
        get { self[Keys.number] }
        set { self[Keys.number] = newValue }
    }
    /// Whether the sense occurs in the texts that were counted to order the senses.
    public var isTagged: Bool {
        get { self[Keys.isTagged] }
        set { self[Keys.isTagged] = newValue }
    }
    /// Tells apart the senses of a word within a lexicographer's file.
    public var lexicalID: Int16 {
        get { self[Keys.lexicalID] }
        set { self[Keys.lexicalID] = newValue }
    }
    /// Where an adjective may stand: p, a or ip.
    public var marker: String? {
        get { self[Keys.marker] }
        set { self[Keys.marker] = newValue }
    }

    public var synset: Synset? {
        get { self[Keys.synset] }
        set { self[Keys.synset] = newValue }
    }
    public var word: Word? {
        get { self[Keys.word] }
        set { self[Keys.word] = newValue }
    }
    /// The lexical pointers that lead from this word.
    public var pointers: Set<Pointer> {
        get { self[Keys.pointers] }
        set { self[Keys.pointers] = newValue }
    }
    /// The frames of this word alone; those of all words are the synset's.
    public var frames: Set<Frame> {
        get { self[Keys.frames] }
        set { self[Keys.frames] = newValue }
    }
}
