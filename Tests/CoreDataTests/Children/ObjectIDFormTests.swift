import Foundation
import Testing

@testable import CoreData

@Suite("An ID that was asked for while it was temporary")
struct ObjectIDFormTests {
    let layers: Layers
    var library: Library { layers.library }

    init() throws { layers = try Layers() }

    private func isSame(_ one: NSManagedObjectID, _ other: NSManagedObjectID) -> Bool {
        one == other && other == one && one.hash == other.hash && one.hashValue == other.hashValue
    }

    @Test("equals the permanent one, with the same hash, in sets and dictionaries made before and after the save")
    func equality() throws {
        let context = library.context
        let tag = Tag(context: context)
        tag.label = "t"
        let temporary = tag.objectID
        let before: Set = [temporary]
        let (hash, uri, text) = (temporary.hash, temporary.uriRepresentation(), temporary.description)
        #expect(temporary.isTemporaryID)
        try context.save()
        let permanent = tag.objectID
        #expect(permanent !== temporary && isSame(temporary, permanent) && permanent.hash == hash)
        #expect(before.contains(permanent) && Set([permanent]).contains(temporary) && [permanent: 1][temporary] == 1)
        // => The one that was kept says what it said.
        #expect(temporary.isTemporaryID && temporary.persistentStore == nil && temporary.hash == hash)
        #expect(temporary.uriRepresentation() == uri && temporary.description == text && uri != permanent.uriRepresentation())
        #expect(!permanent.isTemporaryID && permanent.persistentStore === library.store)
        let far = try library.separateContext()
        let same = try #require(try far.one(Tag.self))
        #expect(isSame(same.objectID, temporary))
        let parsed = try #require(library.coordinator.managedObjectID(forURIRepresentation: permanent.uriRepresentation()))
        #expect(isSame(parsed, temporary))
        let other = Tag(context: context)
        #expect(other.objectID != temporary)
    }

    @Test("leads to the object in every layer and on another context of the coordinator")
    func lookup() throws {
        let tag = Tag(context: layers.worker)
        tag.label = "t"
        let temporary = tag.objectID
        try layers.worker.save()
        try layers.main.save()
        #expect(try layers.main.existingObject(with: temporary) === layers.main.own(tag))
        try layers.root.save()
        for context in [layers.worker, layers.main, layers.root, library.newContext()] {
            let object = try context.existingObject(with: temporary)
            #expect(object === context.object(with: temporary) && object === context.registeredObject(for: temporary))
            #expect(object === context.own(tag) && isSame(object.objectID, temporary))
        }
        #expect(layers.worker.object(with: temporary) === tag)
    }

    @Test("leads to the object where thousands become permanent one by one, in time that grows with their number", .timeLimit(.minutes(20)))
    func oneByOne() throws {
        let (context, child) = (layers.root, layers.main)
        let tags = (0..<12_000).map { _ in Tag(context: context) }
        let known = child.own(tags[0])
        for tag in tags {
            let temporary = tag.objectID
            try context.obtainPermanentIDs(for: [tag])
            #expect(tag.objectID == temporary && !tag.objectID.isTemporaryID)
        }
        #expect(child.object(with: tags[0].objectID) === known && known.objectID == tags[0].objectID)
        // * And where few do, one by one, while another context looks.
        let (first, second) = (Tag(context: context), Tag(context: context))
        let below = [child.own(first), child.own(second)]
        try context.obtainPermanentIDs(for: [first])
        #expect(!below[0].objectID.isTemporaryID && below[1].objectID.isTemporaryID)
        #expect(child.registeredObject(for: first.objectID) === below[0])
    }

    @Test("is the object's in predicates, saved or not, in every layer")
    func predicates() throws {
        let author = Author(context: layers.worker)
        author.name = "a"
        let book = Book(context: layers.worker)
        (book.title, book.author) = ("b", author)
        let (authorID, bookID) = (author.objectID, book.objectID)
        func check(_ contexts: NSManagedObjectContext...) throws {
            for context in contexts {
                #expect(try context.all(Book.self, where: "SELF == %@", [bookID]).count == 1)
                #expect(try context.all(Book.self, where: "author == %@", [authorID]).count == 1)
                #expect(try context.all(Book.self, where: "author IN %@", [[authorID]]).count == 1)
                #expect(try context.all(Book.self, where: "author == %@", [context.own(author)]).count == 1)
                #expect(try context.all(Book.self, where: "SELF != %@", [bookID]).isEmpty)
            }
        }
        try check(layers.worker)
        try layers.worker.save()
        try check(layers.worker, layers.main)
        try layers.main.save()
        try check(layers.worker, layers.main, layers.root)
        try layers.root.save()
        try check(layers.worker, layers.main, layers.root, library.newContext())
        layers.main.own(book).pages = 3
        try check(layers.worker, layers.main)
    }

    @Test("stays temporary with obtainPermanentIDs and with the keys that a child's save takes; the object's own is permanent then")
    func early() throws {
        let first = Tag(context: layers.worker)
        let temporary = first.objectID
        try layers.worker.obtainPermanentIDs(for: [first])
        #expect(isSame(temporary, first.objectID) && temporary.isTemporaryID && !first.objectID.isTemporaryID)
        #expect(first.isInserted && temporary.uriRepresentation().host == nil)
        try layers.worker.save()
        let second = Tag(context: layers.worker)
        let id = second.objectID
        try layers.saveAll()
        let third = Tag(context: layers.worker)
        let pooled = third.objectID
        try layers.worker.save()
        #expect(isSame(id, second.objectID) && isSame(pooled, third.objectID))
        #expect(layers.main.object(with: pooled) === layers.main.own(third))
    }

    @Test("is remembered by no context whose children are gone: the keys of 1,000 saves leave nothing")
    func forgotten() throws {
        // The layers of this suite are children too.
        let alone = library.newContext()
        weak var child: NSManagedObjectContext?
        do {
            let made = Layers.child(of: alone, "child")
            child = made
            let tag = Tag(context: made)
            tag.label = "t"
            try made.save()
            try alone.save()
            #expect(made.object(with: tag.objectID) === tag && !tag.objectID.isTemporaryID)
        }
        #expect(child == nil)
        let keys = try (0..<1000).map { _ in
            let tag = Tag(context: alone)
            let key = tag.objectID.identity.key
            try alone.save()
            return key
        }
        #expect(keys.allSatisfy { $0 < 0 && alone.identityMap.forwardingTable[$0] == nil })
    }

    @Test("costs nothing to those who do not ask, and is forgotten with the last one who holds it")
    func cost() throws {
        let context = library.context
        for _ in 0..<1000 { Tag(context: context).label = "t" }
        try context.save()
        let tags = try context.all(Tag.self)
        var ids: [NSManagedObjectID]? = tags.map(\.objectID)
        #expect(Set(ids ?? []).count == 1000)
        ids = nil
        let hash = try #require(tags.first).objectID.hash
        let far = try library.separateContext()
        #expect(try far.all(Tag.self).contains { $0.objectID.hash == hash })
    }
}
