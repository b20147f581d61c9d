import CoreData

/// A set of synonyms: one meaning.
public final class Synset: NSManagedObject {
    private enum Keys {
        static let gloss = Attribute<String>("gloss")
        static let partOfSpeech = Attribute<String>("partOfSpeech")
        static let lexicographerFile = Attribute<Int16>("lexicographerFile")
        static let offset = Attribute<Int32>("offset")
        static let senses = OrderedToMany<Sense>("senses")
        static let pointers = ToMany<Pointer>("pointers")
        static let frames = ToMany<Frame>("frames")
    }

    public var gloss: String {
        get { self[Keys.gloss] }
        set { self[Keys.gloss] = newValue }
    }
    /// WordNet's letter: n, v, a, s or r.
    public var partOfSpeech: String {
        get { self[Keys.partOfSpeech] }
        set { self[Keys.partOfSpeech] = newValue }
    }
    public var lexicographerFile: Int16 {
        get { self[Keys.lexicographerFile] }
        set { self[Keys.lexicographerFile] = newValue }
    }
    /// Where its line begins in the data file.
    public var offset: Int32 {
        get { self[Keys.offset] }
        set { self[Keys.offset] = newValue }
    }

    /// The words, the one that stands for the synset first.
    public var senses: [Sense] {
        get { self[Keys.senses] }
        set { self[Keys.senses] = newValue }
    }
    public var pointers: Set<Pointer> {
        get { self[Keys.pointers] }
        set { self[Keys.pointers] = newValue }
    }
    public var frames: Set<Frame> {
        get { self[Keys.frames] }
        set { self[Keys.frames] = newValue }
    }
}
