import CoreData
import ModelFormat
import ModelTools

/// The names of a model in a statement: `{Book}` for the rows of an entity, `{Book.title}` for the column of a property.
struct EntityNames {
    private enum Piece {
        case text(Substring)
        /// What is between braces.
        case name(Substring)
    }

    private let pieces: [Piece]

    /// - Throws: `Failure` for a brace that nothing closes. What is in quotation marks and comments is left alone.
    init(_ statement: String) throws {
        var (pieces, rest): ([Piece], Substring) = ([], statement[...])
        while let brace = Self.firstBrace(rest) {
            guard let end = rest[brace...].firstIndex(of: "}") else {
                throw Failure("A name in braces has no end: \(rest[brace...].prefix(40))")
            }
            pieces += [.text(rest[..<brace]), .name(rest[rest.index(after: brace)..<end])]
            rest = rest[rest.index(after: end)...]
        }
        self.pieces = pieces + [.text(rest)]
    }

    var isEmpty: Bool { pieces.count == 1 }

    /// The statement in SQL, and the entities that it names.
    ///
    /// - Throws: `Failure` that names what the model has not, and what is near.
    func resolved(_ places: [EntityPlace]) throws -> (sql: String, entities: [EntityPlace]) {
        let byName = Dictionary(places.map { ($0.name, $0) }) { first, _ in first }
        var used: [String: EntityPlace] = [:]
        let texts = try pieces.map { piece in
            switch piece {
            case .text(let text): return String(text)
            case .name(let name):
                let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let place = try Self.entity(parts[0], byName)
                if parts.count == 2 { return try Self.column(parts[1], place) }
                used[place.name] = place
                return "\"\(place.name)\""
            }
        }
        return (texts.joined(), used.values.sorted { $0.name < $1.name })
    }

    private static func entity(_ name: String, _ places: [String: EntityPlace]) throws -> EntityPlace {
        if let place = places[name] { return place }
        throw Failure("The model has no entity \(name)." + hint(name, Array(places.keys), all: "Its entities are"))
    }

    private static func column(_ name: String, _ place: EntityPlace) throws -> String {
        if let column = place.columns[name] { return column }
        if let other = place.toMany[name] {
            throw Failure("\(place.name).\(name) is to-many, and no column of \(place.name): \(other) has it.")
        }
        let hint = hint(name, Array(place.columns.keys) + place.toMany.keys, all: "There are")
        throw Failure("Entity \(place.name) has no property \(name) in the store." + hint)
    }

    /// The nearest name, or all where none is near.
    fileprivate static func hint(_ name: String, _ names: [String], all: String) -> String {
        if let near = nearest(to: name, among: names.sorted()) { return " Is \(near) meant?" }
        return names.isEmpty ? "" : " \(all) \(names.sorted().prefix(30).joined(separator: ", "))."
    }

    /// The first brace that is neither in quotation marks nor in a comment.
    private static func firstBrace(_ text: Substring) -> Substring.Index? {
        var place = text.startIndex
        while place < text.endIndex {
            if text[place] == "{" { return place }
            place = skipped(text, place)
        }
        return nil
    }

    /// The place after a character, or after what it begins.
    private static func skipped(_ text: Substring, _ place: Substring.Index) -> Substring.Index {
        let next = text.index(after: place)
        switch text[place] {
        case "'", "\"", "`": return end(of: String(text[place]), text[next...])
        case "[": return end(of: "]", text[next...])
        case "-" where text[next...].first == "-": return text[next...].firstIndex(where: \.isNewline) ?? text.endIndex
        case "/" where text[next...].first == "*": return end(of: "*/", text[next...].dropFirst())
        default: return next
        }
    }

    private static func end(of mark: String, _ text: Substring) -> Substring.Index {
        text.firstRange(of: mark)?.upperBound ?? text.endIndex
    }
}

extension NSManagedObjectModel {
    /// - Throws: that there is no such entity, and which name is near.
    func expectEntity(_ name: String) throws {
        guard entitiesByName[name] == nil else { return }
        throw Failure("The model has no entity \(name)." + EntityNames.hint(name, Array(entitiesByName.keys), all: "Its entities are"))
    }
}
