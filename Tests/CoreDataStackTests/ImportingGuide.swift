import CoreData
import CoreDataStack
import Foundation
import TestSupport
import Testing

// docs/guides/ImportingByKey.md shows parts of this file, literally.

@Suite("The guide to importing by key")
struct ImportingGuide {
    struct Row: Codable, Sendable {
        var email: String
        var name: String?
        var team: String?
    }

    final class Contact: NSManagedObject {
        enum Keys {
            static let email = Attribute<String?>("email")
            static let name = Attribute<String?>("name")
            static let team = ToOne<Team>("team")
        }
        var name: String? {
            get { self[Keys.name] }
            set { self[Keys.name] = newValue }
        }
        var team: Team? {
            get { self[Keys.team] }
            set { self[Keys.team] = newValue }
        }
    }

    final class Team: NSManagedObject {
        enum Keys { static let name = Attribute<String?>("name") }
    }

    func add(_ rows: [Row], to context: NSManagedObjectContext) throws {
        let contacts = try context.findOrCreate(Contact.self, by: Contact.Keys.email, among: rows.map(\.email))
        let teams = try context.findOrCreate(Team.self, by: Team.Keys.name, among: rows.compactMap(\.team))
        for row in rows {
            let contact = contacts[row.email]
            contact?.name = row.name
            contact?.team = row.team.flatMap { teams[$0] }
        }
    }

    final class Invoice: NSManagedObject {
        enum Keys {
            static let source = Attribute<String?>("source")
            static let number = Attribute<Int64>("number")
            static let total = Attribute<Double>("total")
        }
        var total: Double {
            get { self[Keys.total] }
            set { self[Keys.total] = newValue }
        }
    }

    func addInvoices(_ rows: [(source: String, number: Int64, total: Double)], to context: NSManagedObjectContext) throws {
        let keys = rows.map { CompoundKey2($0.source as String?, $0.number) }
        let invoices = try context.findOrCreate(Invoice.self, by: Invoice.Keys.source, Invoice.Keys.number, among: keys)
        for (row, key) in zip(rows, keys) { invoices[key]?.total = row.total }
    }

    func importContacts(_ rows: some Sequence<Row> & Sendable, into stack: CoreDataStack, _ progress: Progress) async throws -> Int {
        let batch = try await stack.newBatchOperationContext()
        return try await batch.importElements(rows, progress: progress) { chunk in
            try add(chunk, to: batch)
        }
    }

    /// The lines of a file, without their ends.
    struct Lines: Sequence, IteratorProtocol {
        private let file: FileHandle
        private var rest = Data()

        init(of url: URL) throws { file = try FileHandle(forReadingFrom: url) }

        mutating func next() -> Data? {
            var searched = rest.startIndex
            while true {
                if let end = rest[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                    defer { rest = Data(rest[(end + 1)...]) }
                    return line(rest[..<end])
                }
                searched = rest.endIndex
                let more = file.readData(ofLength: 1 << 16)
                if more.isEmpty { break }
                rest += more
            }
            defer { rest = Data() }
            return rest.isEmpty ? nil : line(rest)
        }

        /// Lines may end as they do on Windows.
        private func line(_ data: Data) -> Data { Data(data.last == UInt8(ascii: "\r") ? data.dropLast() : data) }
    }

    func importJSONLines(at url: URL, into batch: NSManagedObjectContext) async throws -> Int {
        try await batch.perform {
            try batch.importElements(Lines(of: url)) { lines in
                try add(lines.map { try JSONDecoder().decode(Row.self, from: $0) }, to: batch)
            }
        }
    }

    func fields(_ line: Data) -> [String] {
        var (fields, field, isQuoted, wasQuoted) = ([String](), "", false, false)
        for character in String(decoding: line, as: UTF8.self) {
            switch character {
            case "\"":
                // The second of two stands for itself.
                if !isQuoted, wasQuoted { field.append(character) }
                isQuoted.toggle()
                wasQuoted = true
            case "," where !isQuoted:
                fields.append(field)
                (field, wasQuoted) = ("", false)
            default: field.append(character)
            }
        }
        return fields + [field]
    }

    func importCSV(at url: URL, into batch: NSManagedObjectContext) async throws -> Int {
        try await batch.perform {
            var lines = try Lines(of: url)
            let columns = lines.next().map(fields) ?? []
            return try batch.importElements(lines) { chunk in
                let rows = chunk.map { Dictionary(zip(columns, fields($0)), uniquingKeysWith: { $1 }) }
                try add(rows.map { Row(email: $0["email"] ?? "", name: $0["name"], team: $0["team"]) }, to: batch)
            }
        }
    }

    private static let model: NSManagedObjectModel = {
        let (contact, team) = (NSEntityDescription(), NSEntityDescription())
        (contact.name, contact.managedObjectClassName) = ("Contact", NSStringFromClass(Contact.self))
        (team.name, team.managedObjectClassName) = ("Team", NSStringFromClass(Team.self))
        let (members, home) = (NSRelationshipDescription(), NSRelationshipDescription())
        (members.name, members.destinationEntity, members.inverseRelationship) = ("members", contact, home)
        (home.name, home.destinationEntity, home.inverseRelationship, home.maxCount) = ("team", team, members, 1)
        contact.properties = [text("email"), text("name"), home]
        team.properties = [text("name"), members]
        let invoice = NSEntityDescription()
        (invoice.name, invoice.managedObjectClassName) = ("Invoice", NSStringFromClass(Invoice.self))
        let (number, total) = (NSAttributeDescription(), NSAttributeDescription())
        (number.name, number.attributeType, total.name, total.attributeType) = (
            "number", .integer64AttributeType, "total", .doubleAttributeType
        )
        invoice.properties = [text("source"), number, total]
        (contact.uniquenessConstraints, team.uniquenessConstraints) = ([["email"]], [["name"]])
        invoice.uniquenessConstraints = [["source", "number"]]
        let model = NSManagedObjectModel()
        model.entities = [contact, team, invoice]
        return model
    }()

    private static func text(_ name: String) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
        return attribute
    }

    private func contents(_ stack: CoreDataStack) async throws -> [String] {
        let context = try await stack.newBatchOperationContext()
        return try await context.perform {
            try context.fetch(NSFetchRequest<Contact>()).map {
                "\($0[Contact.Keys.email] ?? "") \($0.name ?? "-") \($0.team.flatMap { $0[Team.Keys.name] } ?? "-")"
            }.sorted()
        }
    }

    @Test("imports rows, JSON lines and CSV, and does it again without making anything twice")
    func does() async throws {
        let folder = try TemporaryFolder()
        let stack = try await CoreDataStack.constructSQLiteStack(model: Self.model, at: folder.file("Store.sqlite"))
        let progress = Progress(totalUnitCount: 2)
        let rows = [Row(email: "a@x", name: "Ann", team: "red"), Row(email: "b@x", name: "Ben", team: "red")]
        #expect(try await importContacts(rows, into: stack, progress) == 2)
        #expect(progress.isFinished)
        #expect(try await contents(stack) == ["a@x Ann red", "b@x Ben red"])
        let (json, csv) = (folder.file("rows.jsonl"), folder.file("rows.csv"))
        let lines = [#"{"email":"a@x","name":"Anna","team":"blue"}"#, #"{"email":"c@x"}"#]
        try lines.joined(separator: "\n").write(to: json, atomically: true, encoding: .utf8)
        try "email,name,team\r\nd@x,\"\"\"Dee\"\", D\",red\r\nc@x,\"Cy\",green\r\n".write(to: csv, atomically: true, encoding: .utf8)
        let batch = try await stack.newBatchOperationContext()
        for _ in 0..<2 {
            #expect(try await importJSONLines(at: json, into: batch) == 2)
            #expect(try await importCSV(at: csv, into: batch) == 2)
        }
        #expect(try await contents(stack) == ["a@x Anna blue", "b@x Ben red", "c@x Cy green", "d@x \"Dee\", D red"])
        try await batch.perform {
            for total in [1.5, 2.5] {
                try addInvoices([("shop", 1, total), ("shop", 2, total), ("web", 1, total)], to: batch)
                try batch.save()
            }
            let invoices = try batch.fetch(NSFetchRequest<Invoice>())
            #expect(invoices.map(\.total) == [2.5, 2.5, 2.5])
        }
        try await stack.close()
    }

    @Test("shows what is compiled here")
    func isCompiled() throws {
        func lines(_ text: some StringProtocol) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        }
        let guide = try String(contentsOf: Places.package.appendingPathComponent("docs/guides/ImportingByKey.md"), encoding: .utf8)
        let source = lines(try String(contentsOfFile: #filePath, encoding: .utf8))
        let shown = guide.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
        #expect(shown.count == 8)
        for snippet in shown { #expect(source.contains(lines(snippet) + "\n"), "\(snippet)") }
    }
}
