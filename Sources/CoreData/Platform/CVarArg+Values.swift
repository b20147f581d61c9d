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
