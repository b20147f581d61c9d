import Foundation
import TestSupport
import Testing

/// What docs/Compatibility.md says of each name: of a type in a section of its own, or that the whole type is absent.
private struct Compatibility {
    private(set) var rows: [(type: String, status: String, names: [String])] = []
    private(set) var absentTypes: [String] = []
    let text: String

    init() throws {
        text = try String(contentsOf: Places.package.appendingPathComponent("docs/Compatibility.md"), encoding: .utf8)
        var section = ""
        for line in text.split(separator: "\n") {
            if let heading = line.firstMatch(of: /^##+ (.*)$/) { section = String(heading.1) }
            if section == "Absent as a whole" { absentTypes += Self.names(line) }
            guard let row = line.firstMatch(of: /^\| (same|differs|absent) \| ((?:`[^`]+`(?:, )?)*)/) else { continue }
            rows.append((section, String(row.1), Self.names(row.2)))
        }
    }

    private static func names(_ text: Substring) -> [String] { text.matches(of: /`([^`]+)`/).map { String($0.1) } }

    func names(_ status: String) -> [String] { rows.filter { $0.status == status }.flatMap(\.names) }

    func says(_ name: String, of type: String) -> Bool {
        if absentTypes.contains(type) { return true }
        let sections: Set = [type, String(type.split(separator: ".").last ?? ""), "Constants and functions"]
        return rows.contains { sections.contains($0.type) && $0.names.contains(name) }
    }
}

@Suite("The list of what is there, in docs/Compatibility.md,")
struct CompatibilityTests {
    private let list: Compatibility
    private let declared: DeclaredNames

    init() throws {
        list = try Compatibility()
        declared = try DeclaredNames(in: Places.package.appendingPathComponent("Sources/CoreData/Absent"))
    }

    @Test("calls absent what the compiler knows as unavailable, and the other way round")
    func absentNames() {
        let said = Set(list.rows.filter { $0.status == "absent" }.flatMap { row in row.names.map { [row.type, $0] } })
        let found = Set(
            declared.membersByType.flatMap { type, members in
                list.absentTypes.contains(type) ? [] : members.map { [Self.section(type, $0), $0] }
            }
        )
        #expect(said.subtracting(found) == Self.observing, "said to be absent, and not declared as unavailable")
        let unsaid = found.subtracting(said).filter { !Self.isOfFoundation($0) }
        #expect(unsaid == [Self.undoManager], "declared as unavailable, and not said to be absent")
        #expect(list.absentTypes.filter { declared.membersByType[$0] == nil } == [])
    }

    // Foundation's key-value observing: a line of what is absent. `Observable` has a method of it.
    private static func isOfFoundation(_ name: [String]) -> Bool { name[0].hasPrefix("NSKeyValue") || name[0] == "Observable" }

    // With a relative of key-value coding. Declared in their class, as only there an override of them is told with the sentence.
    private static let observing: Set = [
        ["NSManagedObject", "keyPathsForValuesAffectingValue(forKey:)"], ["NSManagedObject", "automaticallyNotifiesObservers(forKey:)"],
        ["NSManagedObject", "observeValue(forKeyPath:of:change:context:)"], ["NSManagedObject", "setNilValueForKey(_:)"],
    ]

    // Declared beside its type, and there: it can be nil.
    private static let undoManager = ["NSManagedObjectContext", "undoManager"]

    private static func section(_ type: String, _ name: String) -> String {
        type == name && type.hasSuffix("Block") ? "Constants and functions" : type
    }

    @Test("has a sentence for whoever uses an absent name")
    func messages() {
        #expect(declared.messages.count > 5)
        #expect(declared.messages.filter { !$0.hasSuffix(".") || !$0.contains(" ") || $0.count < 40 } == [])
    }

    @Test("counts what it lists")
    func counts() {
        let members = list.absentTypes.reduce(0) { $0 + (declared.membersByType[$1]?.count ?? 0) }
        let counts = [list.names("same").count, list.names("differs").count, list.names("absent").count + members]
        #expect(list.text.contains("| \(counts[0]) | \(counts[1]) | \(counts[2]) |"), "\(counts)")
    }

    private static let symbols = Places.package.appendingPathComponent("../shared/api/symbols.tsv")

    @Test(
        "has every name of Apple's of first and second importance",
        .enabled(if: FileManager.default.fileExists(atPath: symbols.path), "there is no ../shared/api/symbols.tsv beside this package")
    )
    func completeness() throws {
        let lines = try String(contentsOf: Self.symbols, encoding: .utf8).split(separator: "\n").dropFirst()
        let wanted = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
            .filter { $0.count > 4 && ["1", "2"].contains($0[4]) }
            .map { (type: Self.bare($0[0]), symbol: Self.bare($0[1])) }
        let missing = wanted.filter { !list.says(Self.member($0.symbol, of: $0.type), of: $0.type) }
        #expect(missing.map(\.symbol) == [])
        // NB: a class that is absent as a whole has all of its members there, or they would not be errors of their own.
        for type in list.absentTypes {
            let members = wanted.filter { $0.type == type }.map { Self.member($0.symbol, of: type) }.sorted()
            // Apple's list has no initialisers without parameters.
            #expect(declared.membersByType[type]?.sorted().filter { $0 != "init()" } == members, "\(type)")
        }
    }

    private static func bare(_ name: String) -> String { name.replacingOccurrences(of: " (Foundation)", with: "") }

    private static func member(_ symbol: String, of type: String) -> String {
        symbol.hasPrefix(type + ".") ? String(symbol.dropFirst(type.count + 1)) : symbol
    }
}
