import Foundation

/// A value of any type as one of the kinds that predicates tell apart.
enum Value {
    case null
    case number(ExactNumber)
    case text(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(URL)
    case list([Any?])
    case set([Any?])
    case object(Any)

    init(_ any: Any?) {
        guard let any = flattened(any) else {
            self = .null
            return
        }
        // NB: casts from Any also bridge between Swift and Foundation types, so classes and values are asked apart.
        self = type(of: any) is AnyClass ? Value(object: any) : Value(native: any)
    }

    private init(native: Any) {
        switch native {
        case let text as String: self = .text(text)
        case let number as Int: self = .number(.signed(Int64(number)))
        case let number as Double: self = .number(.real(number))
        case let date as Date: self = .date(date)
        case let uuid as UUID: self = .uuid(uuid)
        case let data as Data: self = .data(data)
        case let url as URL: self = .url(url)
        default: self = ExactNumber(native: native).map(Value.number) ?? Value(other: native)
        }
    }

    private init(other: Any) {
        switch other {
        case let text as Substring: self = .text(String(text))
        case let character as Character: self = .text(String(character))
        case is any KeyValueSource: self = .object(other)
        case let dictionary as [AnyHashable: Any]: self = .object(dictionary)
        case let set as any SetAlgebra & Collection: self = .set(set.map { flattened($0) })
        case let list as any Collection: self = .list(list.map { flattened($0) })
        default: self = .object(other)
        }
    }

    private init(object: Any) {
        switch object {
        case is NSNull: self = .null
        case let number as NSNumber: self = .number(ExactNumber(number))
        case let text as NSString: self = .text(String(describing: text))
        case let date as NSDate: self = .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate))
        case let data as NSData: self = .data(Data(referencing: data))
        case let uuid as NSUUID: self = UUID(uuidString: uuid.uuidString).map(Value.uuid) ?? .object(object)
        case let url as NSURL: self = URL(string: url.absoluteString).map(Value.url) ?? .object(object)
        case let set as NSSet: self = .set(set.map { $0 })
        case let list as NSArray: self = .list(list.map { $0 })
        case let list as NSOrderedSet: self = .list(list.map { $0 })
        default: self = .object(object)
        }
    }

    var isNull: Bool {
        if case .null = self { true } else { false }
    }

    var isNumber: Bool {
        if case .number = self { true } else { false }
    }

    /// The value itself again.
    var any: Any? {
        switch self {
        case .null: nil
        case .number(let number): number.any
        case .text(let text): text
        case .date(let date): date
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .url(let url): url
        case .list(let elements), .set(let elements): elements
        case .object(let object): object
        }
    }

    /// The elements of a collection; nil for anything else.
    var elements: [Any?]? {
        switch self {
        case .list(let elements), .set(let elements): elements
        default: nil
        }
    }

    /// What IN looks among: of a dictionary, its values.
    var candidates: [Any?]? {
        guard case .object(let object) = self else { return elements }
        return (object as? [AnyHashable: Any]).map { Array($0.values) }
    }
}
