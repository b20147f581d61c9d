import CoreData

public enum Measure: Int16 { case piece, gram, millilitre }

@objc(Line)
public class Line: NSManagedObject {
    var measure: Measure {
        get { Measure(rawValue: unit) ?? .piece }
        set { unit = newValue.rawValue }
    }
}

extension Tag {
    @objc var isAutumnal: Bool { label == "autumn" }

    static func find(_ label: String, in context: NSManagedObjectContext) -> Tag {
        let request: NSFetchRequest<Tag> = Tag.fetchRequest()
        request.predicate = NSPredicate(format: "%K ==[cd] %@", #keyPath(Tag.label), label)
        request.fetchLimit = 1
        if let found = (try? context.fetch(request))?.first { return found }
        let tag = Tag(context: context)
        tag.label = label
        return tag
    }
}
