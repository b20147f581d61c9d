import CoreData

@objc(Step)
public class Step: NSManagedObject {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Step> {
        return NSFetchRequest<Step>(entityName: "Step")
    }

    @NSManaged public var seconds: NSNumber?
    @NSManaged public var text: String?
    @NSManaged public var recipe: Recipe?

    convenience init(context: NSManagedObjectContext, text: String, seconds: Int) {
        self.init(context: context)
        self.text = text
        self.seconds = seconds as NSNumber
    }
}
