import Foundation

/// A value that has a class in Foundation which stands for it on a Mac, where `id as CVarArg` compiles for that reason and predicates are
/// written so. Here it is a conformance: `NSPredicate(format:)` takes anything, and `String(format:)` prints it for `%@`.
public protocol _FormatArgument: _CVarArgObject {}

extension _FormatArgument {
    public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
    public var _cVarArgEncoding: [Int] {
        misuse("\(Self.self) is no argument of a function of C, which withVaList makes: NSPredicate takes it as it is.")
    }
}

extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}

// Of Foundation's classes only NSString is one on Linux; on a Mac all are.
extension NSNumber: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSDate: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSUUID: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSURL: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSData: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSArray: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSSet: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSOrderedSet: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSDictionary: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
extension NSNull: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatArgument {}
