#if canImport(UIKit)
    import UIKit
#endif
import CoreData
import Foundation

// What people write in Xcode without a thought, and what Linux compiles only in the plugin's copy.
extension Box {
    public class func byLabel() -> NSSortDescriptor {
        NSSortDescriptor(key: #keyPath(Box.label), ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))
    }

    @objc public class func inPlace(_ place: String) -> NSPredicate {
        NSPredicate(format: "\(#keyPath(Box.shelf.place)) == %@ AND %K > 0", place, #keyPath(Box.weight))
    }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue("unnamed", forKey: NSStringFromSelector(#selector(getter: label)))
    }
}

extension Shelf {
    // The class is made from the model.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        place = "nowhere"
    }
}

@objc(LBLabelTransformer)
final class LabelTransformer: Foundation.ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { "<\($0)>" } }
}
