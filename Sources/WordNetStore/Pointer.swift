import CoreData

/// A relation: between two synsets or, when it names senses, between two words.
public final class Pointer: NSManagedObject {
    private enum Keys {
        static let symbol = Attribute<String>("symbol")
        static let source = ToOne<Synset>("source")
        static let target = ToOne<Synset>("target")
        static let sourceSense = ToOne<Sense>("sourceSense")
        static let targetSense = ToOne<Sense>("targetSense")
    }

    /// WordNet's symbol for the relation, such as `@` for hypernym.
    public var symbol: String {
        get { self[Keys.symbol] }
        set { self[Keys.symbol] = newValue }
    }
    public var source: Synset? {
        get { self[Keys.source] }
        set { self[Keys.source] = newValue }
    }
    public var target: Synset? {
        get { self[Keys.target] }
        set { self[Keys.target] = newValue }
    }
    public var sourceSense: Sense? {
        get { self[Keys.sourceSense] }
        set { self[Keys.sourceSense] = newValue }
    }
    public var targetSense: Sense? {
        get { self[Keys.targetSense] }
        set { self[Keys.targetSense] = newValue }
    }
}
