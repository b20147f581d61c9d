import Foundation

/// A function of the program's own with `CVarArg...`, which makes a predicate of them, takes objects as on a Mac.
extension NSManagedObject: _FormatArgument {}
extension NSManagedObjectID: _FormatArgument {}
