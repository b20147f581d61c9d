import CoreData
import Foundation

/// A word, in lower case, with all its meanings.
public final class Word: NSManagedObject {
    private enum Keys {
        static let lemma = Attribute<String>("lemma")
        static let note = Attribute<String?>("note")
        static let senses = OrderedToMany<Sense>("senses")
    }

    public var lemma: String {
        get { self[Keys.lemma] }
        set { self[Keys.lemma] = newValue }
    }
    /// What somebody wrote beside it.
    public var note: String? {
        get { self[Keys.note] }
        set { self[Keys.note] = newValue }
    }
    /// Nouns, verbs, adjectives, adverbs; by sense number within each.
    public var senses: [Sense] {
        get { self[Keys.senses] }
        set { self[Keys.senses] = newValue }
    }
}

extension Word {
    /// The word of a name in any case, with spaces or underscores; nil where there is none.
    ///
    /// > Concurrency: on the context's queue.
    public static func named(_ name: String, in context: NSManagedObjectContext) throws -> Word? {
        let request = NSFetchRequest<Word>(entityName: "Word")
        request.predicate = NSPredicate(format: "lemma == %@", name.lowercased().replacingOccurrences(of: "_", with: " "))
        request.fetchLimit = 1
        return try context.fetch(request).first
    }
}
