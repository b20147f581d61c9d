import CoreData
import Foundation
import Testing

extension Contact: KeyPathNaming {
    static var keyPathNames: [AnyKeyPath: String] { [\Contact.name: "name", \Contact.age: "age", \Contact.team: "team"] }
}

@Suite("The guide to predicates and sorts")
struct PredicatesGuide {
    private static func adults(of team: String) -> NSFetchRequest<Contact> {
        let request = NSFetchRequest<Contact>(entityName: "Contact")
        request.predicate = NSPredicate(format: "age >= %d AND team.name ==[c] %@", 18, team)
        request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedStandardCompare:")),
            NSSortDescriptor(key: "age", ascending: false),
        ]
        return request
    }

    private static func checked() -> NSPredicate {
        NSPredicate(format: "%K > %d AND %K != nil", Contact.Keys.age, 17, Contact.Keys.email)
    }

    private static func typed() -> NSPredicate {
        NSPredicate(#Predicate<Contact> { $0.age >= 18 && $0.name != "Ann" })
    }

    private static func search(_ text: String) throws -> NSPredicate {
        try NSPredicate(parsing: text, arguments: [])
    }

    @Test("has requests that find what they should")
    func finds() async throws {
        let container = try await TestingGuide.emptyContainer()
        let context = container.viewContext
        try await context.perform {
            let team = Team(context: context)
            team.name = "Chess"
            for (name, age) in [("Ann", 30), ("Ben", 12), ("Ada", 44)] {
                let contact = Contact(context: context)
                (contact.name, contact.age, contact.team, contact.email) = (name, Int16(age), team, name)
            }
            try context.save()
            #expect(try context.fetch(Self.adults(of: "chess")).map(\.name) == ["Ada", "Ann"])
            let request = NSFetchRequest<Contact>(entityName: "Contact")
            request.predicate = Self.checked()
            #expect(try context.count(for: request) == 2)
            request.predicate = Self.typed()
            #expect(try context.fetch(request).map(\.name) == ["Ada"] && context.explain(request).inMemory.isEmpty)
            request.predicate = NSPredicate(format: "SUBQUERY(team.members, $m, $m.age < 18).@count > 0 AND name BEGINSWITH 'A'")
            #expect(try context.count(for: request) == 2)
        }
        #expect(throws: PredicateFormatError.self) { try Self.search("age >") }
    }
}
