import Foundation

/// A place in the history of one store or of several: what was before has been seen.
///
/// Kept in a file, it is good for as long as that part of the history is there. Two tokens are equal where they are the same place.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Codable, @unchecked Sendable {
    // Sendable: immutable, and a subclass cannot be made: there is no initialiser for it but those that read one.
    /// By the UUID of the store: the number of the last transaction that was seen.
    let numbers: [String: Int64]

    /// The number in the store of that UUID; nil where it says nothing of it.
    func number(inStore identifier: String) -> Int64? { numbers[identifier] }

    init(_ numbers: [String: Int64]) {
        self.numbers = numbers
        super.init()
    }

    private enum CodingKeys: String, CodingKey { case numbers = "transactions" }
    private static let key = "transactions"

    public required init?(coder: NSCoder) {
        let classes: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
        guard let numbers = coder.decodeObject(of: classes, forKey: Self.key) as? NSDictionary else { return nil }
        var read: [String: Int64] = [:]
        for (store, number) in numbers {
            guard let store = store as? String, let number = number as? NSNumber else { return nil }
            read[store] = number.int64Value
        }
        self.numbers = read
        super.init()
    }

    open func encode(with coder: NSCoder) {
        let numbers = NSMutableDictionary()
        for (store, number) in self.numbers { numbers[NSString(string: store)] = NSNumber(value: number) }
        coder.encode(numbers.copy() as? NSDictionary, forKey: Self.key)
    }

    open class var supportsSecureCoding: Bool { true }

    /// An addition to Apple's interface: a token as JSON, or in a property list.
    public required init(from decoder: any Decoder) throws {
        numbers = try decoder.container(keyedBy: CodingKeys.self).decode([String: Int64].self, forKey: .numbers)
        super.init()
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(numbers, forKey: .numbers)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.numbers == numbers }
    open override var hash: Int { numbers.hashValue }
    open override var description: String {
        "NSPersistentHistoryToken (\(numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")))"
    }
}
