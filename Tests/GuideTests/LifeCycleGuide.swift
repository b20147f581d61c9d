import CoreData
import Testing

final class Contact: NSManagedObject {
    enum Keys {
        static let name = Attribute<String?>("name")
        static let email = Attribute<String?>("email")
        static let age = Attribute<Int16>("age")
        static let created = Attribute<Date?>("created")
        static let team = ToOne<Team>("team")
    }
    var name: String? {
        get { self[Keys.name] }
        set { self[Keys.name] = newValue }
    }
    var email: String? {
        get { self[Keys.email] }
        set { self[Keys.email] = newValue }
    }
    var age: Int16 {
        get { self[Keys.age] }
        set { self[Keys.age] = newValue }
    }
    var created: Date? { self[Keys.created] }
    var team: Team? {
        get { self[Keys.team] }
        set { self[Keys.team] = newValue }
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(), forKey: "created")
    }

    override func willSave() {
        super.willSave()
        let lowered = email?.lowercased()
        if lowered != email { email = lowered }
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        try checkAge()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try checkAge()
    }

    private func checkAge() throws {
        if age < 0 { throw CocoaError(.validationNumberTooSmall, userInfo: [NSValidationKeyErrorKey: "age"]) }
    }
}

/// Calls back after each save, for as long as it lives.
final class SaveObserver {
    private let token: any NSObjectProtocol

    init(_ context: NSManagedObjectContext, _ saved: @escaping @Sendable (Set<NSManagedObject>) -> Void) {
        token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) { note in
            saved(note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? [])
        }
    }

    deinit { NotificationCenter.default.removeObserver(token) }
}

@Suite("The guide to the life cycle")
struct LifeCycleGuide {
    @Test("has hooks that fill in, tidy up and refuse")
    func hooks() async throws {
        let container = try await TestingGuide.emptyContainer()
        let context = container.viewContext
        let inserted = Box(0)
        let observer = SaveObserver(context) { inserted.value += $0.count }
        try await context.perform {
            let contact = Contact(context: context)
            contact.email = "Ann@Example.org"
            try context.save()
            #expect(contact.email == "ann@example.org" && contact.created != nil)
            contact.age = -1
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            #expect(contact.age == 0)
        }
        withExtendedLifetime(observer) { #expect(inserted.value == 1) }
    }
}

/// A number that a callback on the context's queue changes.
final class Box: @unchecked Sendable {
    // Sendable: written on one context's queue, and read when that is done.
    var value: Int
    init(_ value: Int) { self.value = value }
}
