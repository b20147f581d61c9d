import Foundation
import SQLiteDriver

extension SQLiteStore {
    package func values(_ query: DictionaryQuery) throws -> [[Any?]] {
        let plan = try DictionaryPlan(query, cache: plans, home: home)
        return try reporting("fetch") {
            try reading { connection in
                try connection.withCached(plan.sql) { statement in
                    try statement.bind(plan.parameters)
                    SQLLog.note("parameters: \(plan.parameters)", level: 3)
                    var rows: [[Any?]] = []
                    try connection.cancellable(when: query.rows.isCancelled) {
                        while try statement.step() {
                            rows.append(try plan.readings.enumerated().map { try value(statement, Int32($0), $1) })
                        }
                    }
                    return rows
                }
            }
        }
    }

    private func value(_ statement: Statement, _ column: Int32, _ reading: DictionaryPlan.Reading) throws -> Any? {
        if statement.isNull(column) { return nil }
        switch reading {
        case .object(let entity, let number):
            return objectID(statement.int(column), number.map { Int(statement.int($0)) }, entity)
        case .value(let kind, let type):
            return statement.value(column).value(of: type == .undefinedAttributeType ? kind.attributeType : type)
        case .attribute(let attribute):
            guard attribute.attributeType == .transformableAttributeType || attribute.allowsExternalBinaryDataStorage else {
                return statement.value(column).value(of: attribute.attributeType)
            }
            return try data(statement.blob(column) ?? [], attribute).map { data in
                attribute.attributeType == .transformableAttributeType ? try attribute.value(for: data) : data
            } ?? nil
        }
    }

    private func data(_ bytes: [UInt8], _ attribute: NSAttributeDescription) throws -> Data? {
        guard attribute.allowsExternalBinaryDataStorage else { return Data(bytes) }
        var data: Data?
        try bytes.withUnsafeBytes { cell in try MarkedData.content(of: cell, in: supportFolder) { data = Data($0) } }
        return data
    }

    private func objectID(_ key: Int64, _ number: Int?, _ entity: NSEntityDescription) -> NSManagedObjectID? {
        // No object of a store has another.
        guard key > 0 else { return nil }
        let actual = number.flatMap { schema.entity(numbered: $0)?.description } ?? entity
        let reference = RowReference(key: key, entity: Int32(actual.index), store: self.number)
        return NSManagedObjectID(RowIdentity(reference, in: IDSpace(actual, home: home)))
    }
}

extension SQLKind {
    /// The type that a computed value has by itself.
    fileprivate var attributeType: NSAttributeType {
        switch self {
        case .integer, .row, .entity: .integer64AttributeType
        case .real: .doubleAttributeType
        case .float: .floatAttributeType
        case .decimal: .decimalAttributeType
        case .text, .null, .foreign: .stringAttributeType
        case .date: .dateAttributeType
        case .data: .binaryDataAttributeType
        case .uuid: .UUIDAttributeType
        case .url: .URIAttributeType
        }
    }
}

extension SQLiteValue {
    /// The value as users of a type see it; nil for what cannot be one.
    func value(of type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: integer.map(NSNumber.init(value:))
        case .booleanAttributeType: integer.map { NSNumber(value: $0 != 0) }
        case .doubleAttributeType: double.map(NSNumber.init(value:))
        case .floatAttributeType: double.map { NSNumber(value: Float($0)) }
        case .decimalAttributeType: decimal
        case .dateAttributeType: double.map(Date.init(timeIntervalSinceReferenceDate:))
        case .stringAttributeType: text
        case .URIAttributeType: text.flatMap(URL.init(string:))
        case .binaryDataAttributeType: bytes.map { Data($0) }
        case .UUIDAttributeType: uuid
        default: nil
        }
    }

    private var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .real(let number): Int64(exactly: number.rounded(.towardZero))
        default: nil
        }
    }

    private var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    private var decimal: Decimal? {
        switch self {
        case .integer(let number): StoredNumber.integer(number).decimal
        case .real(let number): StoredNumber.real(number).decimal
        default: nil
        }
    }

    private var text: String? {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        default: nil
        }
    }

    private var bytes: [UInt8]? {
        if case .blob(let bytes) = self { bytes } else { nil }
    }

    private var uuid: UUID? {
        guard let bytes, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
