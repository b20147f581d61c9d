import Foundation
import SQLiteDriver

/// A constant of a predicate, sorted out by what it is, as evaluation in memory does.
enum PredicateConstant {
    case scalar(SQLConstant)
    case row(RowIdentity)
    case entity(NSEntityDescription)
    case list([Any?])

    init(_ any: Any?) {
        // The commonest kind first: the casts below take their time.
        if let text = any as? String {
            self = .text(text)
            return
        }
        guard let any = unwrapped(any) else {
            self = .scalar(.null)
            return
        }
        // NB: casts from Any also bridge between Swift and Foundation types, so classes and values are asked apart.
        self = type(of: any) is AnyClass ? Self(object: any) : Self(native: any)
    }

    private init(native: Any) {
        switch native {
        case let number as Int: self = .integer(Int64(number))
        case let number as Double: self = .real(number)
        case let flag as Bool: self = .integer(flag ? 1 : 0)
        case let date as Date: self = .date(date)
        case let uuid as UUID: self = .uuid(uuid)
        case let data as Data: self = .data(data)
        case let url as URL: self = .url(url)
        default: self = Self(otherNative: native)
        }
    }

    private init(otherNative native: Any) {
        switch native {
        case let number as any BinaryInteger:
            self = Int64(exactly: number).map(Self.integer) ?? .real(Double(number))
        case let number as Float: self = .real(Double(number))
        case let number as CGFloat: self = .real(Double(number))
        case let number as Decimal: self = .decimal(number)
        case let text as Substring: self = .text(String(text))
        case let character as Character: self = .text(String(character))
        case let row as any RowIdentifying: self = .row(row.identity)
        case let dictionary as [AnyHashable: Any]: self = .list(Array(dictionary.values))
        case let list as any Collection: self = .list(list.map { $0 })
        default: self = .scalar(.foreign)
        }
    }

    private init(object: Any) {
        switch object {
        case is NSNull: self = .scalar(.null)
        case let id as NSManagedObjectID: self = .row(id.identity)
        case let number as NSNumber: self = Self(number)
        case let date as NSDate: self = .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate))
        case let data as NSData: self = .data(Data(referencing: data))
        case let uuid as NSUUID: self = UUID(uuidString: uuid.uuidString).map(Self.uuid) ?? .scalar(.foreign)
        case let url as NSURL: self = URL(string: url.absoluteString).map(Self.url) ?? .scalar(.foreign)
        case let row as any RowIdentifying: self = .row(row.identity)
        case let entity as NSEntityDescription: self = .entity(entity)
        case let set as NSSet: self = .list(set.map { $0 })
        case let list as NSArray: self = .list(list.map { $0 })
        case let dictionary as NSDictionary: self = .list(dictionary.allValues)
        case let list as NSOrderedSet: self = .list(list.map { $0 })
        default: self = .scalar(.foreign)
        }
    }

    private init(_ number: NSNumber) {
        if let decimal = number as? NSDecimalNumber {
            self = .decimal(decimal.decimalValue)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .real(number.doubleValue)
        case UInt8(ascii: "Q"): self = Int64(exactly: number.uint64Value).map(Self.integer) ?? .real(Double(number.uint64Value))
        default: self = .integer(number.int64Value)
        }
    }

    private static func integer(_ number: Int64) -> Self { .scalar(SQLConstant(value: .integer(number), kind: .integer)) }

    /// NB: SQLite binds a NaN as NULL, but as a constant it is a value that differs from every other.
    private static func real(_ number: Double) -> Self {
        .scalar(number.isNaN ? .foreign : SQLConstant(value: .real(number), kind: .real))
    }

    /// As the store keeps a decimal.
    private static func decimal(_ number: Decimal) -> Self {
        switch StoredNumber(number) {
        case .integer(let integer): Self.integer(integer)
        case .real(let double): real(double)
        }
    }

    private static func text(_ text: String) -> Self { .scalar(SQLConstant(value: .text(text), kind: .text)) }
    private static func url(_ url: URL) -> Self { .scalar(SQLConstant(value: .text(url.absoluteString), kind: .url)) }
    private static func data(_ data: Data) -> Self { .scalar(SQLConstant(value: .blob([UInt8](data)), kind: .data)) }

    private static func date(_ date: Date) -> Self {
        let seconds = date.timeIntervalSinceReferenceDate
        return .scalar(seconds.isNaN ? .foreign : SQLConstant(value: .real(seconds), kind: .date))
    }

    private static func uuid(_ uuid: UUID) -> Self {
        .scalar(SQLConstant(value: .blob(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }), kind: .uuid))
    }
}
