import CoreData

/// A sentence frame that a verb fits.
public final class Frame: NSManagedObject {
    private enum Keys {
        static let number = Attribute<Int16>("number")
        static let synset = ToOne<Synset>("synset")
        static let sense = ToOne<Sense>("sense")
    }

    /// WordNet's number for the frame, 1 to 35.
    public var number: Int16 {
        get { self[Keys.number] }
        set { self[Keys.number] = newValue }
    }
    public var synset: Synset? {
        get { self[Keys.synset] }
        set { self[Keys.synset] = newValue }
    }
    /// The one word that fits the frame; nil when all words of the synset do.
    public var sense: Sense? {
        get { self[Keys.sense] }
        set { self[Keys.sense] = newValue }
    }
}
