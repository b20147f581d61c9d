import Foundation

/// A value as the reference knows it.
enum Plain: Equatable {
    case null
    case integer(Int)
    case real(Double)
    case text(String)
    case date(Double)
    case uuid(UInt8)
    case data([UInt8])

    /// As a constant of a predicate.
    var constant: Any? {
        switch self {
        case .null: nil
        case .integer(let number): number
        case .real(let number): number
        case .text(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .uuid(let byte): UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
        case .data(let bytes): Data(bytes)
        }
    }
}

/// The types of attributes, with few different values, so that comparisons often hold.
enum PlainType: CaseIterable {
    case integer16, integer64, double, float, decimal, text, flag, date, uuid, data

    var values: [Plain] {
        switch self {
        case .integer16, .integer64: [0, 1, 2, 3, -1].map(Plain.integer)
        case .double, .float, .decimal: [0, 1, 2.5, -0.5, 0.25].map(Plain.real)
        case .text: ["", "a", "A", "ab", "aB", "ä", "Äb", "b", "5", "ß", "e\u{301}", "é", "file10", "file9", "x*y"].map(Plain.text)
        case .flag: [.integer(0), .integer(1)]
        case .date: [0, 1.5, -60].map(Plain.date)
        case .uuid: [.uuid(0), .uuid(7), .uuid(200)]
        case .data: [.data([]), .data([0]), .data([1, 255])]
        }
    }

    var isNumber: Bool { [.integer16, .integer64, .double, .float, .decimal, .flag].contains(self) }
}

/// The entities of a random model, as the reference knows them.
struct PlainShape {
    struct Entity {
        let name: String
        /// The entity that this one inherits from, and what it has from it.
        let parent: Int?
        var attributes: [(name: String, type: PlainType)]
        var relations: [Relation] = []
    }

    /// One end of a link.
    struct Relation {
        let name: String
        let destination: Int
        let isToMany: Bool
        let isOrdered: Bool
        let link: Int
        /// Whether links of the kind are seen from their sources.
        let isForward: Bool
    }

    /// What connects objects of two entities.
    struct Link {
        let source, target: Int
        let sourceIsSingle, targetIsSingle: Bool
        let hasInverse: Bool
    }

    var entities: [Entity] = []
    var links: [Link] = []

    /// Three entities, one of which has a subentity.
    init(using dice: inout Dice) {
        for index in 0..<3 { entities.append(Entity(name: "E\(index)", parent: nil, attributes: Self.attributes("e\(index)", &dice))) }
        let inherited = entities[0].attributes
        entities.append(Entity(name: "Sub", parent: 0, attributes: inherited + [("own", dice.pick(PlainType.allCases))]))
        // Of each kind one, between any entities, the same twice too.
        connect(0, 1, single: true, inverseSingle: false, &dice)
        connect(dice.pick([0, 1, 2]), dice.pick([0, 1, 2]), single: false, inverseSingle: false, &dice)
        connect(dice.pick([1, 2]), 0, single: true, inverseSingle: false, &dice)
        connect(2, dice.pick([0, 1, 2]), single: true, inverseSingle: true, &dice)
        if dice.chance(4) {
            connect(dice.pick([0, 1, 2]), dice.pick([0, 1, 2]), single: true, inverseSingle: false, hasInverse: false, &dice)
        }
    }

    private static func attributes(_ prefix: String, _ dice: inout Dice) -> [(name: String, type: PlainType)] {
        // Numbers and texts are what most of what can be asked is about.
        let types = [.integer64, .text, dice.pick([.double, .float, .decimal, .integer16])] + [dice.pick(PlainType.allCases)]
        return types.enumerated().map { ("\(prefix)_\($0.offset)", $0.element) }
    }

    private mutating func connect(
        _ source: Int,
        _ target: Int,
        single: Bool,
        inverseSingle: Bool,
        hasInverse: Bool = true,
        _ dice: inout Dice
    ) {
        let link = links.count
        links.append(
            Link(source: source, target: target, sourceIsSingle: single, targetIsSingle: inverseSingle, hasInverse: hasInverse)
        )
        add(Relation(name: "r\(link)", destination: target, isToMany: !single, isOrdered: false, link: link, isForward: true), to: source)
        guard hasInverse else { return }
        let isOrdered = !inverseSingle && dice.chance(3)
        add(
            Relation(
                name: "i\(link)",
                destination: source,
                isToMany: !inverseSingle,
                isOrdered: isOrdered,
                link: link,
                isForward: false
            ),
            to: target
        )
    }

    private mutating func add(_ relation: Relation, to entity: Int) {
        for index in entities.indices where index == entity || entities[index].parent == entity {
            entities[index].relations.append(relation)
        }
    }

    /// The entity itself and those that inherit from it.
    func family(of entity: Int) -> [Int] { entities.indices.filter { $0 == entity || entities[$0].parent == entity } }
}
