import Foundation
import Testing

@testable import CoreData

@Suite("A coded object ID")
struct ObjectIDCodingTests {
    private func savedTag(_ library: Library) throws -> Tag {
        let tag = Tag(context: library.context)
        try library.context.save()
        return tag
    }

    private func decoder(_ coordinator: NSPersistentStoreCoordinator?) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.userInfo[.persistentStoreCoordinator] = coordinator
        return decoder
    }

    @Test("is the text of its URI, and comes back equal, alone and inside other values")
    func roundTrip() throws {
        let library = try Library()
        let id = try savedTag(library).objectID
        let data = try JSONEncoder().encode(["tag": [id]])
        #expect(try JSONDecoder().decode([String: [String]].self, from: data) == ["tag": [id.uriRepresentation().absoluteString]])
        #expect(try decoder(library.coordinator).decode([String: [NSManagedObjectID]].self, from: data) == ["tag": [id]])
    }

    @Test("names the same row for another coordinator on the file")
    func otherCoordinator() throws {
        let library = try Library()
        let tag = try savedTag(library)
        tag.label = "here"
        try library.context.save()
        let other = try library.separateContext()
        let id = try decoder(other.persistentStoreCoordinator).decode(NSManagedObjectID.self, from: JSONEncoder().encode(tag.objectID))
        #expect(try (other.existingObject(with: id) as? Tag)?.label == "here")
    }

    @Test("is refused while it is temporary, with the cure")
    func temporary() throws {
        let library = try Library()
        let id = Tag(context: library.context).objectID
        let error = try #require(throws: EncodingError.self) { try JSONEncoder().encode(id) }
        #expect("\(error)".contains("obtainPermanentIDs(for:)"))
    }

    @Test("cannot be decoded without a coordinator, which the error names")
    func noCoordinator() throws {
        let data = try JSONEncoder().encode(savedTag(Library()).objectID)
        let error = try #require(throws: DecodingError.self) { try decoder(nil).decode(NSManagedObjectID.self, from: data) }
        #expect("\(error)".contains("userInfo[.persistentStoreCoordinator]"))
    }

    @Test("cannot be decoded where no store has its UUID, nor from other text")
    func unknown() throws {
        let data = try JSONEncoder().encode(savedTag(Library()).objectID)
        let coordinator = try Library().coordinator
        #expect(throws: DecodingError.self) { try decoder(coordinator).decode(NSManagedObjectID.self, from: data) }
        for text in ["\"\"", "\"x-coredata:///Tag/t1\"", "\"é\"", "7", "null"] {
            #expect(throws: DecodingError.self) { try decoder(coordinator).decode(NSManagedObjectID.self, from: Data(text.utf8)) }
        }
    }
}
