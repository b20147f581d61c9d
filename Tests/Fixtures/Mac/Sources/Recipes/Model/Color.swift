import Foundation

@objc(Color)
public final class Color: NSObject, NSSecureCoding {
    public static var supportsSecureCoding: Bool { true }
    let red: Double

    init(red: Double) { self.red = red }
    public init?(coder: NSCoder) { red = coder.decodeDouble(forKey: "red") }

    public func encode(with coder: NSCoder) { coder.encode(red, forKey: "red") }
}
