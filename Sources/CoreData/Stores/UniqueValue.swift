import Foundation
import Predicates

/// A value as a unique index compares it.
enum UniqueValue: Hashable {
    case integer(Int64)
    case real(Double)
    case uuid(UUID)
    case text(String)
    case data(Data)

    /// Nil for what is stored as NULL, which is distinct from everything.
    init?(_ value: SlotValue) {
        switch value {
        case .null: return nil
        case .integer(let number): self = .integer(number)
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        case .float(let number): self.init(Double(number))
        case .double(let number): self.init(number)
        case .date(let date): self.init(date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): self = .uuid(uuid)
        case .decimal(let number):
            switch StoredNumber(number) {
            case .integer(let integer): self = .integer(integer)
            case .real(let real): self.init(real)
            }
        case .string(let text): self = .text(text)
        case .binary(let data): self = .data(data)
        // Only the key is in the column.
        case .reference(let reference): self = .integer(reference.key)
        }
    }

    private init?(_ number: Double) {
        if number.isNaN { return nil }
        // NB: a whole number is one value, whether as an integer or not.
        self = Int64(exactly: number).map(Self.integer) ?? .real(number)
    }

    // NB: `==` on strings is canonical equivalence; SQLite compares bytes.
    static func == (left: UniqueValue, right: UniqueValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
        case (.data(let left), .data(let right)): left == right
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number)
        case .uuid(let uuid): hasher.combine(uuid)
        case .text(let text): hasher.combine(text)
        case .data(let data): hasher.combine(data)
        }
    }
}
