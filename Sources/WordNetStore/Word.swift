import CoreData

/// A word, in lower case, with all its meanings.
public final class Word: NSManagedObject {
    private enum Keys {
        static let lemma = Attribute<String>("lemma")
        static let senses = OrderedToMany<Sense>("senses")
    }

    public var lemma: String {
        get { self[Keys.lemma] }
        set { self[Keys.lemma] = newValue }
    }
    /// Nouns, verbs, adjectives, adverbs; by sense number within each.
    public var senses: [Sense] {
        get { self[Keys.senses] }
        set { self[Keys.senses] = newValue }
    }
}
