import Foundation

/// What a program's own store says that identifies an object: a text or a number.
enum ReferenceObject: Sendable {
    case text(String)
    case number(Int64)
    /// One that is no `Int64`.
    case large(UInt64)

    /// Nil for what is neither, for fractions, and for a text without anything in it, which no URI could name.
    init?(_ value: Any) {
        switch value {
        case let text as String where !text.isEmpty: self = .text(text)
        case let number as NSNumber where !number.doubleValue.isFinite: return nil
        case let number as NSNumber where number.uint64Value > Int64.max && number.int64Value < 0 && number.doubleValue > 0:
            self = .large(number.uint64Value)
        case let number as NSNumber where number.doubleValue == Double(number.int64Value): self = .number(number.int64Value)
        case let number as any BinaryInteger:
            if let number = Int64(exactly: number) {
                self = .number(number)
            } else if let number = UInt64(exactly: number) {
                self = .large(number)
            } else {
                return nil
            }
        default: return nil
        }
    }

    /// The number that a name is, as numbers are written.
    init?(number name: String) {
        if let number = Int64(name), String(number) == name {
            self = .number(number)
        } else if let number = UInt64(name), String(number) == name {
            self = .large(number)
        } else {
            return nil
        }
    }

    /// As it is in the URI of an ID, but for what is escaped there.
    var name: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        case .large(let number): String(number)
        }
    }

    /// As it is in the URI of an ID, escaped.
    var escapedName: String? {
        if case .text(let text) = self, ReferenceObject(number: text) != nil { return Self.escaped(text) }
        return name.addingPercentEncoding(withAllowedCharacters: Self.unreserved)
    }

    /// A text that looks like a number: its first character is escaped, so that a process that has not met it knows it to be none.
    private static func escaped(_ text: String) -> String {
        let first = text.utf8.first.map { "%" + String($0, radix: 16, uppercase: true) } ?? ""
        return first + text.dropFirst()
    }

    private static let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    var value: Any {
        switch self {
        case .text(let text): text
        case .number(let number): NSNumber(value: number)
        case .large(let number): NSNumber(value: number)
        }
    }
}

/// The keys that stand for what a store says its objects are identified by: rows and references hold keys only.
///
/// One for a store's UUID, whichever coordinators of the process have the store: IDs are equal then. Keys are given in the order of asking and
/// mean nothing outside the process.
///
/// Grows with every object that the process meets, some 100 bytes for a number and 200 for a text, and forgets none of them: an ID, a row or a
/// reference in a row of any context may have the key still, also of an object that was deleted or whose store was removed, and an object that got a
/// second key would be another one. It goes as a whole, with the last store of that UUID that is open, and the last context and ID that know it.
final class ReferenceTable: Sendable {
    /// NB: `==` on strings is canonical equivalence; texts that are written otherwise are others.
    private struct Name: Hashable {
        let text: String

        init(_ text: String) { self.text = text }

        static func == (left: Name, right: Name) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private struct Root {
        var keys: [Name: Int64] = [:]
        var references: [Int64: ReferenceObject] = [:]
        var last: Int64 = 0
        /// The last number that was given to an object, of stores that number theirs.
        var lastNumber: Int64 = 0
        /// What the store has used so far, for a name that comes from a URI.
        var usesTexts = false
        /// Keys that were made for names in URIs, before the store said anything of such objects.
        var early: Set<Int64> = []
        /// The keys under which objects came later that early ones were made for.
        var arrived: [Int64: Int64] = [:]
        /// Keys of new objects that no save has written yet, which know already what will identify them.
        var promised: Set<Int64> = []
    }
    /// By the name of the root entity.
    private let roots = Lock<[String: Root]>([:])

    /// The key of a reference object below a root entity, an old one or a new one. Whether a name of digits is a text or a number, the store says:
    /// for one that came from a URI before, that was a guess.
    func key(of reference: ReferenceObject, root: String) -> Int64 {
        roots.withLock { roots in
            if case .text = reference { roots[root, default: Root()].usesTexts = true }
            if let known = roots[root]?.keys[Name(reference.name)] {
                roots[root]?.references[known] = reference
                roots[root]?.early.remove(known)
                return known
            }
            let key = (roots[root]?.last ?? 0) + 1
            roots[root, default: Root()].last = key
            Self.bind(key, reference, &roots[root, default: Root()])
            return key
        }
    }

    /// The key of the name that is in a URI.
    ///
    /// - Parameter isText: whether it can be no number, whatever it looks like.
    func key(named name: String, isText: Bool = false, root: String) -> Int64 {
        let (usesTexts, known) = roots.withLock { ($0[root]?.usesTexts ?? false, $0[root]?.keys[Name(name)]) }
        if let known { return known }
        let key = key(of: (usesTexts || isText ? nil : ReferenceObject(number: name)) ?? .text(name), root: root)
        roots.withLock { _ = $0[root]?.early.insert(key) }
        return key
    }

    /// The key of the object that an ID means: where the ID was made from a URI before there was such an object, that object's.
    func arrived(at key: Int64, root: String) -> Int64 { roots.withLock { $0[root]?.arrived[key] } ?? key }

    /// The key that a reference object has already.
    func known(_ reference: ReferenceObject, root: String) -> Int64? { roots.withLock { $0[root]?.keys[Name(reference.name)] } }

    /// The last key that was given below each root entity.
    var lastKeys: [String: Int64] { roots.withLock { $0.mapValues(\.last) } }

    func reference(of key: Int64, root: String) -> ReferenceObject? { roots.withLock { $0[root]?.references[key] } }

    /// Gives out so many keys that no reference object has yet, all greater than `floor`; the one before the first is returned.
    func reserve(_ count: Int, after floor: Int64, root: String) -> Int64 {
        roots.withLock { roots in
            let last = max(floor, roots[root]?.last ?? 0)
            roots[root, default: Root()].last = last + Int64(count)
            return last
        }
    }

    /// A key that was reserved stands for a reference object from now on, which may have had another one: an object that was deleted.
    func bind(_ key: Int64, to reference: ReferenceObject, root: String) {
        roots.withLock { roots in
            if let former = roots[root]?.keys[Name(reference.name)], former != key, roots[root]?.early.contains(former) == true {
                roots[root]?.arrived[former] = key
            }
            roots[root]?.arrived[key] = nil
            roots[root]?.promised.remove(key)
            Self.bind(key, reference, &roots[root, default: Root()])
        }
    }

    /// A new object has been told what will identify it, before it is saved.
    func promise(_ key: Int64, _ reference: ReferenceObject, root: String) {
        roots.withLock { roots in
            let isFree = roots[root]?.keys[Name(reference.name)] == nil
            if isFree { roots[root, default: Root()].keys[Name(reference.name)] = key }
            roots[root, default: Root()].references[key] = reference
            roots[root]?.promised.insert(key)
        }
    }

    func isPromised(_ key: Int64, root: String) -> Bool { roots.withLock { $0[root]?.promised.contains(key) ?? false } }

    /// What identifies an object that is about to be read is its own, whoever was promised the same: others may have saved it meanwhile.
    func releasePromises() {
        roots.withLock { roots in
            for (name, root) in roots {
                for key in root.promised {
                    guard let reference = root.references[key], root.keys[Name(reference.name)] == key else { continue }
                    roots[name]?.keys[Name(reference.name)] = nil
                }
            }
        }
    }

    /// A key stands for nothing any more.
    func unbind(_ key: Int64, root: String) {
        roots.withLock { roots in
            roots[root]?.promised.remove(key)
            guard let reference = roots[root]?.references.removeValue(forKey: key) else { return }
            if roots[root]?.keys[Name(reference.name)] == key { roots[root]?.keys[Name(reference.name)] = nil }
        }
    }

    /// The number after all that were given so far, and after `floor`; nil where there is none.
    func nextNumber(after floor: Int64, root: String) -> Int64? {
        roots.withLock { roots in
            let last = max(floor, roots[root]?.lastNumber ?? 0)
            guard last < .max else { return nil }
            roots[root, default: Root()].lastNumber = last + 1
            return last + 1
        }
    }

    private static func bind(_ key: Int64, _ reference: ReferenceObject, _ root: inout Root) {
        root.keys[Name(reference.name)] = key
        root.references[key] = reference
        if case .text = reference { root.usesTexts = true }
    }
}

extension ReferenceTable {
    private struct Weak {
        weak var table: ReferenceTable?
    }
    private static let known = Lock<[String: Weak]>([:])

    /// The one for a store's UUID.
    static func of(_ identifier: String) -> ReferenceTable {
        known.withLock { known in
            if let table = known[identifier]?.table { return table }
            known = known.filter { $0.value.table != nil }
            let table = ReferenceTable()
            known[identifier] = Weak(table: table)
            return table
        }
    }
}
