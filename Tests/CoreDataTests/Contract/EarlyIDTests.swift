import Foundation
import Testing

@testable import CoreData

@Suite("The ID of a URI whose object is not there yet")
struct EarlyIDTests {
    /// The last part of the URI that the first tag of a store has.
    private static let firstTags: [ContractKind: String] = [.file: "p1", .binary: "p1", .xml: "p1", .dictionary: "pr1%2F%C3%A4"]

    @Test("leads to nothing, and to the object once there is one", arguments: [ContractKind.file, .binary, .xml, .dictionary])
    func arrival(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let context = try home.open()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first?.identifier)
        let uri = try #require(URL(string: "x-coredata://\(store)/Tag/\(Self.firstTags[kind]!)"))
        let early = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(early.uriRepresentation() == uri && !early.isTemporaryID)
        let error = #expect(throws: CocoaError.self) { try context.existingObject(with: early) }
        #expect(error?.code == .managedObjectReferentialIntegrity)

        let tag = Tag(context: context)
        tag.label = "late"
        try context.save()
        #expect(tag.objectID.uriRepresentation() == uri)
        for reader in [context, home.context(on: coordinator)] {
            #expect((try reader.existingObject(with: early) as? Tag)?.label == "late")
            #expect((reader.object(with: early) as? Tag)?.label == "late")
            let request = NSFetchRequest<Tag>(entityName: "Tag")
            request.predicate = NSPredicate(format: "SELF == %@", early)
            #expect(try reader.fetch(request).map(\.label) == ["late"])
        }
        #expect(try context.existingObject(with: early) === tag)
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == tag.objectID)
    }

    @Test("is nothing for a store or an entity that is not known", arguments: ContractKind.allCases)
    func unknown(_ kind: ContractKind) throws {
        let home = try ContractHome(kind)
        let coordinator = try home.coordinator()
        let store = try #require(coordinator.persistentStores.first?.identifier)
        for text in [
            "x-coredata://\(UUID())/Tag/p1", "x-coredata://\(store)/Nothing/p1", "x-coredata://\(store)/Tag/p", "http://\(store)/Tag/p1",
        ] {
            #expect(coordinator.managedObjectID(for: text) == nil, "\(text)")
        }
    }
}
