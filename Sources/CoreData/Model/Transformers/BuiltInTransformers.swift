import Foundation
import ModelFormat

final class NegationTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: (value as? NSNumber)?.boolValue != true) }
}

/// Whether there is no value.
class NilTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value == nil || value is NSNull) }
}

final class NotNilTransformer: NilTransformer {
    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: !(value == nil || value is NSNull)) }
}

/// Makes an object of its archive: what the attribute of a managed object does when it reads, so that it sets in reverse.
final class UnarchivingTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? Data).flatMap { try? ObjectUnarchiver.object(in: $0) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value.flatMap { try? ObjectArchiver.data(of: $0) } }
}

/// Makes an object of its keyed archive when it is of one of some classes, and an archive of an object in reverse.
///
/// Subclass it for a transformable attribute with values of a class of your own: override `allowedTopLevelClasses`, register an instance with
/// `setValueTransformer(_:forName:)`, and name it in the model.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that a value, and the elements of a value that is a collection, may be of.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
            NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// Nil also for an archive that cannot be read.
    open override func transformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { try? ObjectUnarchiver.object(in: $0, allowed: Self.allowedTopLevelClasses) }
    }

    /// Nil also for an object that cannot be archived.
    open override func reverseTransformedValue(_ value: Any?) -> Any? { value.flatMap { try? ObjectArchiver.data(of: $0) } }
}
