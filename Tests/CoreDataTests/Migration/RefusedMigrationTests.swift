import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Fails, or does what it should not, where a test says so.
final class UnrulyPolicy: JoiningPolicy {
    struct Refusal: Error {}
    @TaskLocal static var place = ""

    private func fail(_ hook: String) throws { if Self.place == hook { throw Refusal() } }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { try fail("begin") }
    override func createDestinationInstances(forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try fail("createDestinationInstances")
        switch Self.place {
        case "nothing": return
        case "cancel": manager.cancelMigrationWithError(Refusal())
        case "twice": try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        case "unnamed":
            let client = NSEntityDescription.insertNewObject(forEntityName: "Client", into: manager.destinationContext)
            return manager.associate(sourceInstance: source, withDestinationInstance: client, for: mapping)
        default: break
        }
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try fail("endInstanceCreation")
    }
    override func createRelationships(forDestination object: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try fail("createRelationships")
        try super.createRelationships(forDestination: object, in: mapping, manager: manager)
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try fail("endRelationshipCreation")
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try fail("performCustomValidation")
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { try fail("end") }
}

/// A mistake in a mapping model, and what the error says of it.
struct Mistake: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let (entity, property): (String?, String?)
    /// The code beneath 134110, if there is one.
    let code: CocoaError.Code?
    let make: @Sendable (NSMappingModel) -> Void

    init(
        _ words: String,
        _ entity: String?,
        _ property: String? = nil,
        under code: CocoaError.Code? = nil,
        _ make: @escaping @Sendable (NSMappingModel) -> Void
    ) {
        (testDescription, self.entity, self.property, self.code, self.make) = (words, entity, property, code, make)
    }

    static let all: [Mistake] = [
        Mistake("there is no policy class Nobody.Policy", "Customer", under: .entityMigrationPolicy) {
            $0.entityMappings[0].entityMigrationPolicyClassName = "Nobody.Policy"
        },
        Mistake("the source model has no entity Buyer", "Buyer") { $0.entityMappings[0].sourceEntityName = "Buyer" },
        Mistake("the destination model has no entity Buyer", "Buyer") { $0.entityMappings[0].destinationEntityName = "Buyer" },
        Mistake("CustomerToClient has neither a source nor a destination", nil) {
            ($0.entityMappings[0].sourceEntityName, $0.entityMappings[0].destinationEntityName) = (nil, nil)
        },
        Mistake("for another version of the source entity Customer", "Customer") {
            $0.entityMappings[0].sourceEntityVersionHash = Data([1])
        },
        Mistake("Two entity mappings are named OrderToOrder", nil) { $0.entityMappings[0].name = "OrderToOrder" },
        Mistake("Client of the destination has no property \"fax\"", "Client", "fax") {
            $0.entityMappings[0].attributeMappings = [.init("fax", "\"x\"")]
        },
        Mistake("Client.orders of the destination is no attribute", "Client", "orders") {
            $0.entityMappings[0].attributeMappings = [.init("orders", "\"x\"")]
        },
        Mistake("Customer of the source has no property \"middle\"", "Client", "fullName") {
            $0.entityMappings[0].attributeMappings = [.init("fullName", "$source.middle")]
        },
        Mistake("the value is a String, and the attribute takes an NSNumber", "Client", "age", under: .entityMigrationPolicy) {
            $0.entityMappings[0].attributeMappings = [.init("fullName", "$source.first"), .init("age", "$source.last")]
        },
        Mistake("is too large for the attribute", "Client", "age", under: .entityMigrationPolicy) {
            $0.entityMappings[0].attributeMappings = [.init("fullName", "$source.first"), .init("age", "1e300")]
        },
        Mistake("and no object or collection of objects", "Order", "client", under: .entityMigrationPolicy) {
            $0.entityMappings[1].relationshipMappings = [.init("client", "\"Ann\"")]
        },
        Mistake("an object of the value is not of the destination", "Order", "client", under: .entityMigrationPolicy) {
            $0.entityMappings[1].relationshipMappings = [.init("client", "$source")]
        },
        Mistake("an object of the value is a Tag, and the relationship leads to Client", "Order", "client", under: .entityMigrationPolicy) {
            let function = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
            $0.entityMappings[1].relationshipMappings = [.init("client", "FUNCTION($manager, \"\(function)\", \"tags\", $source.tags)")]
        },
        Mistake("There is no entity mapping named Nobody", "Order", "client") {
            let function = "destinationInstancesForEntityMappingNamed:sourceInstances:"
            $0.entityMappings[1].relationshipMappings = [
                .init("client", "FUNCTION($manager, \"\(function)\", \"Nobody\", $source.customer)")
            ]
        },
        Mistake("has no function \"split:\"", "Client", "fullName", under: .entityMigrationPolicy) {
            $0.entityMappings[0].attributeMappings = [.init("fullName", "FUNCTION($entityPolicy, \"split:\", $source.first)")]
        },
        Mistake("Client.fullName is required and has no value", "Client", "fullName", under: .validationMultipleErrors) {
            $0.entityMappings[0].attributeMappings = []
        },
        Mistake("neither a fetch request nor objects", "Customer") {
            $0.entityMappings[0].sourceExpression = NSExpression(format: "1 + 1")
        },
    ]
}

@Suite("A migration that is refused")
struct RefusedMigrationTests {
    private let folder: TemporaryFolder
    private let shop = Shop()

    init() throws {
        folder = try TemporaryFolder()
        try shop.fill(folder.file("Old.sqlite"))
    }

    private func migrate(_ mapping: NSMappingModel?, from source: String = "Old.sqlite", to name: String = "New.sqlite") throws {
        try NSMigrationManager(sourceModel: shop.old, destinationModel: shop.new).migrateStore(
            from: folder.file(source),
            sourceType: NSSQLiteStoreType,
            with: mapping,
            toDestinationURL: folder.file(name),
            destinationType: NSSQLiteStoreType
        )
    }

    private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()) ?? [] }

    /// The error of a migration after which there is no destination, and the source is what it was.
    @discardableResult
    private func refused(_ code: Int, _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) throws -> CocoaError? {
        let before = (bytes(of: folder.file("Old.sqlite")), files)
        let error = cocoaError(code, sourceLocation: sourceLocation, body)
        #expect(bytes(of: folder.file("Old.sqlite")) == before.0 && files == before.1, sourceLocation: sourceLocation)
        return error
    }

    @Test("for a mistake in the mapping model names entity, property and reason", arguments: Mistake.all)
    func mistake(_ mistake: Mistake) throws {
        let mapping = shop.mapping()
        mistake.make(mapping)
        let error = try refused(134110) { try migrate(mapping) }
        #expect(error?.localizedDescription.contains(mistake.testDescription) == true, "\(error?.localizedDescription ?? "")")
        #expect(error?.userInfo["entity"] as? String == mistake.entity)
        #expect(error?.userInfo["property"] as? String == mistake.property)
        if let code = mistake.code { #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == code) }
    }

    static let hooks = [
        "begin", "createDestinationInstances", "endInstanceCreation", "createRelationships", "endRelationshipCreation",
        "performCustomValidation", "end",
    ]

    @Test("by a hook of a policy names it, and has its error underneath", arguments: hooks)
    func throwing(_ hook: String) throws {
        let error = try UnrulyPolicy.$place.withValue(hook) {
            try refused(134110) { try migrate(shop.mapping(policy: UnrulyPolicy.self)) }
        }
        #expect(error?.localizedDescription.contains("\(hook) of UnrulyPolicy failed") == true)
        #expect(error?.userInfo[NSUnderlyingErrorKey] is UnrulyPolicy.Refusal)
        #expect(error?.userInfo["mapping"] as? String == "CustomerToClient" && error?.userInfo["entity"] as? String == "Customer")
        try migrate(shop.mapping(policy: UnrulyPolicy.self))
        #expect(try shop.contents(folder.file("New.sqlite")) == Shop.migrated)
    }

    @Test("because it is cancelled throws the error that it was cancelled with")
    func cancelled() throws {
        let before = files
        #expect(throws: UnrulyPolicy.Refusal.self) {
            try UnrulyPolicy.$place.withValue("cancel") { try migrate(shop.mapping(policy: UnrulyPolicy.self)) }
        }
        #expect(files == before)
    }

    @Test("leaves out what a policy makes nothing of, and refers to the first of what it makes twice")
    func counts() throws {
        try UnrulyPolicy.$place.withValue("nothing") { try migrate(shop.mapping(policy: UnrulyPolicy.self), to: "None.sqlite") }
        #expect(try shop.contents(folder.file("None.sqlite")).first == "0 0.0 [\"red\", \"green\"] of -")
        try UnrulyPolicy.$place.withValue("twice") { try migrate(shop.mapping(policy: UnrulyPolicy.self), to: "Two.sqlite") }
        let lines = try shop.contents(folder.file("Two.sqlite"))
        #expect(lines.count == 12 && lines.suffix(6) == Shop.migrated.suffix(6))
    }

    @Test("for objects that are not valid says which")
    func invalid() throws {
        let error = try UnrulyPolicy.$place.withValue("unnamed") {
            try refused(134110) { try migrate(shop.mapping(policy: UnrulyPolicy.self)) }
        }
        #expect(error?.userInfo["entity"] as? String == "Client" && error?.userInfo["property"] as? String == "fullName")
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .validationMultipleErrors)
    }

    @Test("for its places says what is wrong with them")
    func places() throws {
        try refused(134140) { try migrate(nil) }
        try refused(134140) { try migrate(NSMappingModel()) }
        try refused(134160) { try migrate(shop.mapping(), to: "Old.sqlite") }
        try FileManager.default.createSymbolicLink(at: folder.file("Link.sqlite"), withDestinationURL: folder.file("Old.sqlite"))
        try refused(134160) { try migrate(shop.mapping(), to: "Link.sqlite") }
        try Data("text".utf8).write(to: folder.file("Text.sqlite"))
        try refused(134160) { try migrate(shop.mapping(), to: "Text.sqlite") }
        try refused(134160) { try migrate(shop.mapping(), to: "Nowhere/New.sqlite") }
        try refused(134150) { try migrate(shop.mapping(), from: "Text.sqlite") }
        try refused(134150) { try migrate(shop.mapping(), from: "None.sqlite") }
        try migrate(shop.mapping())
        try refused(134150) { try migrate(shop.mapping(), from: "New.sqlite", to: "Newer.sqlite") }
    }

    @Test("to a place where nothing can be made blames that, also where it is inferred", arguments: [true, false])
    func nowhere(bySQL: Bool) throws {
        let next = Shop.oldModel()
        next.entitiesByName["Tag"]?.versionHashModifier = "next"
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: shop.old, destinationModel: next)
        let manager = NSMigrationManager(sourceModel: shop.old, destinationModel: next)
        manager.usesStoreSpecificMigrationManager = bySQL
        let (old, new) = (folder.file("Old.sqlite"), folder.file("Nowhere").appendingPathComponent("New.sqlite"))
        try refused(134160) { try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite) }
    }

    // * While the migration is at work, another makes a store at the place of the new one, saves, and has it open.
    // => The migration is refused; what was saved is there, as is what is saved afterwards.
    @Test("as another has made a store at the place meanwhile, and leaves that alone with its log")
    func overtaken() throws {
        let made = Lock<Stack?>(nil)
        let make: @Sendable () throws -> Void = { [folder] in
            let stack = try Stack(folder.file("New.sqlite"), Shop.newModel())
            try Self.addTag(stack)
            made.withLock { $0 = stack }
        }
        let mapping = shop.mapping()
        mapping.entityMappings[2].entityMigrationPolicyClassName = NSStringFromClass(OvertakenPolicy.self)
        cocoaError(134160) { try OvertakenPolicy.$overtake.withValue({ try? make() }) { try migrate(mapping) } }
        let stack = try #require(made.withLock { $0 })
        try Self.addTag(stack)
        try stack.close()
        let reopened = try Stack(folder.file("New.sqlite"), shop.new)
        #expect(try reopened.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 2)
        try reopened.close()
    }

    private static func addTag(_ stack: Stack) throws {
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("x", forKey: "label")
        try context.save()
    }
}
