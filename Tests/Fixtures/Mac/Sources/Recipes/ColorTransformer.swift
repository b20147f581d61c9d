import Foundation

final class ColorTransformer: NSSecureUnarchiveFromDataTransformer {
    static let name = NSValueTransformerName(rawValue: String(describing: ColorTransformer.self))

    override class var allowedTopLevelClasses: [AnyClass] { [Color.self] }

    static func register() {
        ValueTransformer.setValueTransformer(ColorTransformer(), forName: name)
    }
}
