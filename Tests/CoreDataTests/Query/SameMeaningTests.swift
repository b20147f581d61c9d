import Foundation
import Predicates
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A random predicate")
struct SameMeaningTests {
    /// Songs as rows of a database and, key by key the same, as dictionaries.
    struct Songs {
        let bench = QueryBench()
        let database: Connection
        let dictionaries: [[String: Any]]

        init(count: Int, using dice: inout Dice) throws {
            database = try bench.database()
            let artists: [[String: Any]] = [["name": "a", "born": 1], ["name": "A"], ["born": 2]]
            // As objects have them: keys to be sorted by, and entities.
            let rows = artists.enumerated().map { index, artist in
                Row(key: index + 1, values: artist.merging(["entity": ["name": index == 2 ? "Band" : "Artist"]]) { $1 })
            }
            let tags: [[String: Any]] = [["name": "a", "weight": 1], ["name": "b", "weight": 2], ["weight": 1], ["name": "ä"]]
            for (index, artist) in artists.enumerated() {
                try Self.insert(artist, key: index + 1, into: "ZARTIST", entity: index == 2 ? 2 : 1, database)
            }
            for (index, tag) in tags.enumerated() { try Self.insert(tag, key: index + 1, into: "ZTAG", entity: 4, database) }
            var songs: [[String: Any]] = []
            for key in 1...count {
                var song = RandomValues.song(using: &dice)
                try Self.insert(song, key: key, into: "ZSONG", entity: 3, database)
                if let artist = artists.indices.randomElement(using: &dice), Bool.random(using: &dice) {
                    try database.execute("UPDATE ZSONG SET ZARTIST = \(artist + 1), Z1_ARTIST = 1 WHERE Z_PK = \(key)")
                    song["artist"] = rows[artist]
                }
                let chosen = tags.indices.filter { _ in Int.random(in: 0..<3, using: &dice) == 0 }
                for tag in chosen { try database.execute("INSERT INTO Z_3TAGS (Z_3SONGS, Z_4TAGS) VALUES (\(key), \(tag + 1))") }
                song["tags"] = chosen.map { tags[$0] }
                song["entity"] = ["name": "Song"]
                songs.append(song)
            }
            dictionaries = songs
        }

        private static func insert(_ values: [String: Any], key: Int, into table: String, entity: Int, _ database: Connection) throws {
            let columns = values.keys.sorted()
            let names = (["Z_PK", "Z_ENT"] + columns.map { "Z" + $0.uppercased() }).joined(separator: ", ")
            let marks = (["\(key)", "\(entity)"] + columns.map { _ in "?" }).joined(separator: ", ")
            let row = columns.map { Self.stored(values[$0] as Any) }
            _ = try database.rows("INSERT INTO \(table) (\(names)) VALUES (\(marks))", row)
        }

        private static func stored(_ value: Any) -> SQLiteValue {
            switch value {
            case let flag as Bool: .integer(flag ? 1 : 0)
            case let number as Int: .integer(Int64(number))
            case let number as Double: .real(number)
            case let number as Float: .real(Double(number))
            case let text as String: .text(text)
            case let date as Date: .real(date.timeIntervalSinceReferenceDate)
            case let uuid as UUID: .blob(withUnsafeBytes(of: uuid.uuid) { Array($0) })
            case let data as Data: .blob(Array(data))
            default: .null
            }
        }

        /// An object as a sort descriptor sees it.
        struct Row: KeyValueSource, SortStandIn {
            let key: Int
            let values: [String: Any]
            var sortValue: Any? { key }
            func predicateValue(forKey key: String) -> Any? { values[key] }
        }

        /// The keys of all rows in an order, from SQL; nil where it is left to memory.
        func order(_ descriptors: [NSSortDescriptor]) throws -> [Int]? {
            var query = try bench.query()
            query.sortDescriptors = descriptors
            let plan = try bench.plan(query)
            if plan.sortsInMemory { return nil }
            return try database.rows(plan.sql, plan.parameters).compactMap { if case .integer(let key) = $0[0] { Int(key) } else { nil } }
        }

        func expectedOrder(_ descriptors: [NSSortDescriptor]) -> [Int] {
            dictionaries.enumerated().map { Row(key: $0.offset + 1, values: $0.element) }.sorted(using: descriptors).map(\.key)
        }

        /// The keys of the rows that a fetch finds, after its remainder.
        func found(_ predicate: NSPredicate) throws -> (keys: [Int], isAllSQL: Bool) {
            var query = try bench.query()
            query.predicate = predicate.tree
            let plan = try bench.plan(query)
            let keys = try database.rows(plan.sql, plan.parameters).compactMap { row -> Int? in
                if case .integer(let key) = row[0] { Int(key) } else { nil }
            }
            guard let remainder = plan.remainder else { return (keys.sorted(), true) }
            return (try keys.filter { try remainder.evaluate(dictionaries[$0 - 1], semantics: .sql) == true }.sorted(), false)
        }

        func expected(_ predicate: NSPredicate) throws -> [Int] {
            try dictionaries.indices.filter { try predicate.tree.evaluate(dictionaries[$0], semantics: .sql) == true }.map { $0 + 1 }
        }
    }

    @Test("finds in SQL what it finds in memory", arguments: [1, 2, 3, 4] as [UInt64])
    func sameMeaning(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let songs = try Songs(count: 60, using: &dice)
        var inSQL = 0, matches = 0
        for round in 0..<400 {
            let predicate = round % 10 == 9 ? RandomPredicates.nested(using: &dice) : RandomPredicates.predicate(depth: 3, using: &dice)
            let (found, isAllSQL) = try songs.found(predicate)
            let expected = try songs.expected(predicate)
            #expect(found == expected, "seed \(seed), round \(round): \(predicate)")
            inSQL += isAllSQL ? 1 : 0
            matches += expected.isEmpty || expected.count == 60 ? 0 : 1
        }
        for round in 0..<100 {
            let descriptors = RandomPredicates.order(using: &dice)
            let order = try #require(try songs.order(descriptors))
            #expect(order == songs.expectedOrder(descriptors), "seed \(seed), round \(round): \(descriptors)")
        }
        #expect(inSQL > 300, "most predicates are to be said in SQL, else this tests nothing")
        #expect(matches > 80, "many predicates are to divide the rows, else this tests nothing")
    }
}

/// Random numbers that are the same for the same seed.
struct Dice: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &self)] }
    mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &self) == 0 }
}

/// Few different values, so that comparisons often hold, and those at which types end.
enum RandomValues {
    static let integers: [any Sendable] = [0, 1, 2, 3, -1, Int.max, Int.max - 1, Int.min, (1 << 53) + 1, 5]
    static let doubles: [any Sendable] = [0.0, 1.0, 2.5, -0.5, 9_007_199_254_740_993.0, 1e19, -1e300, 0.1]
    static let texts: [any Sendable] = ["", "a", "A", "ab", "aB", "ä", "a\u{308}", "b", "5", "a\0b", "😀", "A*", "\u{10FFFF}"]
    static let dates: [any Sendable] = [0, 1.5, -60].map { Date(timeIntervalSinceReferenceDate: $0) }
    static let uuids: [any Sendable] = [0, 7].map { UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) }
    static let blobs: [any Sendable] = [Data(), Data([0]), Data([1, 255])]

    /// The attributes with values they can have.
    static let attributes: [(String, [any Sendable])] = [
        ("title", texts), ("album", texts), ("plays", integers), ("track", [0, 1, 2, 3, -1]), ("length", doubles),
        ("gain", [Float(0), Float(1), Float(2.5), Float(0.1)]), ("released", dates), ("isLive", [true, false]), ("code", uuids),
        ("cover", blobs),
    ]

    static func song(using dice: inout Dice) -> [String: Any] {
        var song: [String: Any] = [:]
        for (name, values) in attributes where !dice.chance(4) { song[name] = dice.pick(values) }
        return song
    }

    static func constant(using dice: inout Dice, like name: String) -> Any? {
        if dice.chance(12) { return nil }
        if dice.chance(10) { return dice.pick([1, "a", Date(timeIntervalSinceReferenceDate: 0), Double.nan, UUID(), true] as [Any]) }
        let numbers = integers + [0.5, 2.5, 1e19, -1e300, Decimal(1), Decimal(string: "2.5") ?? 0, UInt64.max] as [any Sendable]
        return switch name {
        case "title", "album", "artist.name", "tags.name": dice.pick(texts)
        case "entity.name", "artist.entity.name": dice.pick(["Song", "Artist", "Band", "band", "", "A*"] as [Any])
        case "released": dice.pick(dates + [Date(timeIntervalSinceReferenceDate: .nan)])
        case "code": dice.pick(uuids)
        case "cover": dice.pick(blobs)
        case "gain": dice.pick([0, 1, 2.5, Float(1), true, 0.1, Float(0.1), Decimal(string: "0.1") ?? 0] as [Any])
        default: dice.pick(numbers)
        }
    }
}

enum RandomPredicates {
    typealias Comparison = Predicates.NSComparisonPredicate
    typealias Expression = Predicates.NSExpression

    static func predicate(depth: Int, using dice: inout Dice) -> NSPredicate {
        if depth == 0 || dice.chance(3) { return atom(using: &dice) }
        let parts = (0..<Int.random(in: 0...3, using: &dice)).map { _ in predicate(depth: depth - 1, using: &dice) }
        switch Int.random(in: 0..<3, using: &dice) {
        case 0: return NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        case 1: return NSCompoundPredicate(orPredicateWithSubpredicates: parts)
        default: return NSCompoundPredicate(notPredicateWithSubpredicate: predicate(depth: depth - 1, using: &dice))
        }
    }

    /// A chain that is put together pair by pair, of one kind or of several, up to depths that SQL cannot say.
    static func nested(using dice: inout Dice) -> NSPredicate {
        let kinds: [NSCompoundPredicate.LogicalType] = dice.pick([[.or], [.and], [.and, .or], [.or, .not], [.and, .or, .not]])
        let isOnTheLeft = dice.chance(2)
        return (0..<dice.pick([5, 15, 30, 60, 120])).reduce(atom(using: &dice)) { whole, level in
            let kind = kinds[level % kinds.count]
            if kind == .not { return NSCompoundPredicate(notPredicateWithSubpredicate: whole) }
            let part = atom(using: &dice)
            return NSCompoundPredicate(type: kind, subpredicates: isOnTheLeft ? [whole, part] : [part, whole])
        }
    }

    /// Ends with the row itself, so that there is one answer.
    static func order(using dice: inout Dice) -> [NSSortDescriptor] {
        let keys = paths.filter { $0 != "isLive" } + ["artist", "artist", "entity.name"]
        let selectors: [Selector?] = [nil, "caseInsensitiveCompare:"]
        return (0..<Int.random(in: 0...2, using: &dice)).map { _ in
            NSSortDescriptor(key: dice.pick(keys), ascending: dice.chance(2), selector: dice.pick(selectors))
        } + [NSSortDescriptor(key: "self", ascending: dice.chance(2))]
    }

    private static let paths =
        RandomValues.attributes.map(\.0) + ["artist.name", "artist.born", "entity.name", "artist.entity.name"]
    private static let orders: [Comparison.Operator] = [
        .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
    ]
    private static let matches: [Comparison.Operator] = [.beginsWith, .endsWith, .contains, .like]

    private static func atom(using dice: inout Dice) -> NSPredicate {
        let path = dice.pick(paths)
        let key = Expression(forKeyPath: path)
        switch Int.random(in: 0..<12, using: &dice) {
        case 0, 1, 2: return comparison(key, dice.pick(orders), constant(path, &dice), &dice)
        case 3: return comparison(constant(path, &dice), dice.pick(orders), key, &dice)
        case 4: return comparison(key, dice.pick(orders), Expression(forKeyPath: dice.pick(paths)), &dice)
        case 5: return comparison(key, .in, list(path, count: 0...4, &dice), &dice)
        case 6: return comparison(key, .between, list(path, count: 2...2, &dice), &dice)
        case 7:
            let isRegular = dice.chance(5)
            let pattern: Any = isRegular ? dice.pick(["a.*", "[Aä]?b*", ".", "\\D+"]) : dice.pick(RandomValues.texts)
            return comparison(key, isRegular ? .matches : dice.pick(matches), Expression(forConstantValue: pattern), &dice)
        case 8: return comparison(arithmetic(&dice), dice.pick(orders), constant("plays", &dice), &dice)
        case 9: return quantified(&dice)
        case 10: return counted(&dice)
        default: return membership(&dice)
        }
    }

    private static func constant(_ path: String, _ dice: inout Dice) -> Expression {
        Expression(forConstantValue: RandomValues.constant(using: &dice, like: path))
    }

    private static func list(_ path: String, count: ClosedRange<Int>, _ dice: inout Dice) -> Expression {
        let count = Int.random(in: count, using: &dice)
        if dice.chance(3) {
            return Expression(
                .aggregate((0..<count).map { _ in dice.chance(3) ? Expression(forKeyPath: dice.pick(paths)) : constant(path, &dice) })
            )
        }
        return Expression(forConstantValue: (0..<count).map { _ in RandomValues.constant(using: &dice, like: path) ?? NSNull() })
    }

    private static func comparison(
        _ left: Expression,
        _ type: Comparison.Operator,
        _ right: Expression,
        _ dice: inout Dice,
        _ modifier: Comparison.Modifier = .direct
    ) -> NSPredicate {
        let options = dice.chance(2) ? [] : Comparison.Options(rawValue: UInt.random(in: 0...7, using: &dice))
        return Comparison(leftExpression: left, rightExpression: right, modifier: modifier, type: type, options: options)
    }

    private static func arithmetic(_ dice: inout Dice) -> Expression {
        let number = { (dice: inout Dice) in
            dice.chance(2)
                ? Expression(forKeyPath: dice.pick(["plays", "track", "length", "gain", "isLive", "artist.born"]))
                : Expression(forConstantValue: dice.pick([0, 1, 2, 3, 0.5]))
        }
        let names = [
            "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "bitwiseAnd:with:", "bitwiseOr:with:",
            "leftshift:by:", "rightshift:by:",
        ]
        return Expression(forFunction: dice.pick(names), arguments: [number(&dice), number(&dice)])
    }

    private static func quantified(_ dice: inout Dice) -> NSPredicate {
        let path = dice.pick(["tags.name", "tags.weight"])
        let modifier: Comparison.Modifier = dice.chance(2) ? .any : .all
        if dice.chance(4) { return comparison(Expression(forKeyPath: path), .in, list(path, count: 0...3, &dice), &dice, modifier) }
        return comparison(Expression(forKeyPath: path), dice.pick(orders), constant(path, &dice), &dice, modifier)
    }

    private static func counted(_ dice: inout Dice) -> NSPredicate {
        let text =
            dice.pick([
                "tags.@count", "tags.@max.weight", "tags.@min.name", "tags.@avg.weight", "tags.@sum.weight",
                "SUBQUERY(tags, $t, $t.weight > track OR $t.name == title).@count",
                "SUBQUERY(tags, $t, NOT ($t.name == nil AND ANY tags.weight == $t.weight)).@count",
            ])
        return comparison(
            Expression(format: text),
            dice.pick(orders),
            Expression(forConstantValue: dice.pick([0, 1, 2, "a"] as [Any])),
            &dice
        )
    }

    private static func membership(_ dice: inout Dice) -> NSPredicate {
        let path = dice.pick(["tags.name", "tags.weight"])
        let element = dice.chance(2) ? constant(path, &dice) : Expression(forKeyPath: dice.pick(["title", "track"]))
        if dice.chance(2) { return comparison(element, .in, Expression(forKeyPath: path), &dice) }
        return comparison(Expression(forKeyPath: path), .contains, element, &dice)
    }
}
