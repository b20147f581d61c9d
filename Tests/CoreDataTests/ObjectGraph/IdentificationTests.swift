import Foundation
import Testing

@testable import CoreData

/// Two coordinators that share nothing, with rows of the same keys.
private struct Strangers {
    let here: Library
    let there: Library
    var context: NSManagedObjectContext { here.context }
    let mine: Book
    let theirs: Book

    init(_ kind: StoreKind) throws {
        (here, there) = (try Library(kind), try Library(kind))
        (mine, theirs) = (try here.savedBook("mine"), try there.savedBook("theirs"))
        #expect(mine.objectID.identity.reference == theirs.objectID.identity.reference)
    }
}

@Suite("An ID of a store that a context does not have")
struct ForeignIDTests {
    @Test("finds no object: existingObject throws 133000 with the ID", arguments: StoreKind.allCases)
    func existing(kind: StoreKind) throws {
        let strangers = try Strangers(kind)
        let id = strangers.theirs.objectID
        let error = try #require(throws: CocoaError.self) { _ = try strangers.context.existingObject(with: id) }
        #expect(error.errorCode == NSManagedObjectReferentialIntegrityError)
        #expect((error as NSError).userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID] == [id])
        #expect(strangers.context.registeredObject(for: id) == nil)
        #expect(id != strangers.mine.objectID)
    }

    @Test("gives one fault without values, whose delete deletes nobody's row", arguments: StoreKind.allCases)
    func fault(kind: StoreKind) throws {
        let strangers = try Strangers(kind)
        let context = strangers.context
        let fault = try #require(context.object(with: strangers.theirs.objectID) as? Book)
        #expect(fault !== strangers.mine && fault.isFault && fault.objectID == strangers.theirs.objectID)
        #expect(context.object(with: strangers.theirs.objectID) === fault)
        #expect(context.registeredObject(for: strangers.theirs.objectID) === fault)
        #expect(fault.title == nil && fault.tags.isEmpty && fault.author == nil && fault.managedObjectContext === context)
        fault.title = "changed"
        context.delete(fault)
        strangers.mine.pages = 3
        try context.save()
        #expect(try strangers.here.sql("SELECT ZTITLE, ZPAGES FROM ZBOOK") == "mine|3")
        #expect(try strangers.there.sql("SELECT ZTITLE FROM ZBOOK") == "theirs")
        #expect(!context.hasChanges && !strangers.mine.isDeleted)
    }

    @Test("changes nothing in the layers above either", arguments: StoreKind.allCases)
    func layers(kind: StoreKind) throws {
        let strangers = try Strangers(kind)
        let layers = Layers(strangers.here)
        let fault = try #require(layers.worker.object(with: strangers.theirs.objectID) as? Book)
        layers.worker.delete(fault)
        layers.worker.refreshAllObjects()
        #expect(throws: CocoaError.self) { _ = try layers.worker.existingObject(with: strangers.theirs.objectID) }
        layers.worker.delete(fault)
        try layers.saveAll()
        #expect(try strangers.here.sql("SELECT ZTITLE FROM ZBOOK") == "mine")
    }

    @Test("cannot be related to what is saved", arguments: StoreKind.allCases)
    func relating(kind: StoreKind) throws {
        let strangers = try Strangers(kind)
        let author = Author(context: strangers.there.context)
        author.name = "theirs"
        try strangers.there.context.save()
        let fault = try #require(strangers.context.object(with: author.objectID) as? Author)
        strangers.mine.author = fault
        #expect(strangers.mine.author === fault)
        #expect(throws: CocoaError.self) { try strangers.context.save() }
        strangers.context.rollback()
        #expect(strangers.mine.author == nil)
    }

    @Test("is ignored by merges", arguments: StoreKind.allCases)
    func merging(kind: StoreKind) throws {
        let strangers = try Strangers(kind)
        let context = strangers.context
        strangers.mine.title = "edited"
        let notes = Notifications(.NSManagedObjectContextDidSave, from: strangers.there.context)
        let added = Book(context: strangers.there.context)
        added.title = "second"
        try strangers.there.context.save()
        context.mergeChanges(fromContextDidSave: try #require(notes.received.last))
        strangers.there.context.delete(strangers.theirs)
        try strangers.there.context.save()
        context.mergeChanges(fromContextDidSave: try #require(notes.received.last))
        for key in [NSDeletedObjectsKey, NSUpdatedObjectsKey, NSInsertedObjectsKey] {
            let lists: [Any] = [[added.objectID], [added.objectID.uriRepresentation()], [added], [Book(context: strangers.there.context)]]
            for list in lists { NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: list], into: [context]) }
        }
        #expect(context.registeredObjects == [strangers.mine])
        #expect(strangers.mine.title == "edited" && strangers.mine.hasChanges && strangers.mine.managedObjectContext === context)
        try context.save()
        #expect(try strangers.here.sql("SELECT ZTITLE FROM ZBOOK") == "edited")
    }

    @Test("matches nothing in a fetch, saved or not", arguments: StoreKind.allCases)
    func predicates(kind: StoreKind) throws {
        let strangers = try Strangers(kind)
        let (context, id) = (strangers.context, strangers.theirs.objectID)
        let tag = Tag(context: strangers.there.context)
        try strangers.there.context.save()
        let own = Tag(context: context)
        strangers.mine.tags = [own]
        try context.save()
        for _ in 0..<2 {
            for other in [id, strangers.theirs, context.object(with: id)] as [NSObject] {
                #expect(try context.all(Book.self, where: "SELF == %@", [other]).isEmpty)
                #expect(try context.all(Book.self, where: "SELF IN %@", [[other]]).isEmpty)
                #expect(try context.all(Book.self, where: "SELF != %@", [other]) == [strangers.mine])
            }
            #expect(try context.all(Book.self, where: "ANY tags == %@", [tag]).isEmpty)
            #expect(try context.all(Book.self, where: "ANY tags == %@", [tag.objectID]).isEmpty)
            #expect(try context.all(Book.self, where: "ANY tags == %@", [own.objectID]) == [strangers.mine])
            strangers.mine.pages += 1
        }
    }

    @Test("of another model names nothing here, whatever its numbers say", arguments: StoreKind.allCases)
    func otherModel(kind: StoreKind) throws {
        let here = try Library(kind)
        let mine = try here.savedBook("mine")
        let home = try StoreHome(kind)
        let model = NSManagedObjectModel()
        model.entities = (0..<20).map {
            LibraryModel.entity("Other\($0)", NSManagedObject.self, [LibraryModel.attribute("n", .stringAttributeType)])
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: home.url(), options: nil)
        let far = Library.context(on: coordinator)
        let objects = model.entities.map { NSManagedObject(entity: $0, insertInto: far) }
        let temporary = objects.map(\.objectID)
        try far.save()
        for id in objects.map(\.objectID) + temporary {
            for context in [here.context, Layers(here).worker] {
                #expect(throws: CocoaError.self) { _ = try context.existingObject(with: id) }
                #expect(id.isTemporaryID || context.registeredObject(for: id) == nil)
                let fault = context.object(with: id)
                #expect(fault.entity === id.entity && fault.value(forKey: "n") == nil && fault.objectID == id)
                #expect(try context.all(Book.self, where: "SELF == %@", [id]).isEmpty)
                #expect(try context.all(Book.self, where: "author == %@ OR SELF IN %@", [id, [id]]).isEmpty)
                context.delete(fault)
                context.refreshAllObjects()
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: [context])
            }
        }
        try here.context.save()
        #expect(try here.sql("SELECT COUNT(*) FROM ZBOOK") == "1" && !mine.isDeleted)
    }

    @Test("that is temporary is that of an unrelated context", arguments: StoreKind.allCases)
    func temporary(kind: StoreKind) throws {
        let library = try Library(kind)
        let (context, other) = (library.context, library.newContext())
        let tag = Tag(context: context)
        tag.label = "t"
        let id = tag.objectID
        #expect(throws: CocoaError.self) { _ = try other.existingObject(with: id) }
        let fault = try #require(other.object(with: id) as? Tag)
        #expect(fault.label == nil && fault.objectID == id)
        try context.save()
        // => Asked for again after the save: the same object, now with its row.
        #expect(other.object(with: id) === fault && other.object(with: tag.objectID) === fault)
        #expect(try other.existingObject(with: id) === fault && other.only(Tag.self, "Tag") === fault)
        #expect(fault.label == "t" && !fault.isDeleted && !other.hasChanges && !fault.objectID.isTemporaryID)
    }
}

@Suite("An ID of a store that is here under another number")
struct TranslatedIDTests {
    /// A second coordinator on the library's file, where the store has another number.
    private func shifted(_ library: Library) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        let other = try StoreHome(.memory)
        let first = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: other.url(), options: nil)
        try coordinator.addPersistentStore(ofType: library.kind.type, configurationName: nil, at: library.url, options: nil)
        try coordinator.remove(first)
        return Library.context(on: coordinator)
    }

    @Test("is the same row in look-ups, predicates and merges", arguments: StoreKind.allCases)
    func everywhere(kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try library.savedBook("b")
        let author = Author(context: library.context)
        (author.name, book.author) = ("a", author)
        let tag = Tag(context: library.context)
        book.tags = [tag]
        try library.context.save()
        let far = try shifted(library)
        let (id, authorID) = (book.objectID, author.objectID)
        let theirs = try #require(try far.existingObject(with: id) as? Book)
        #expect(theirs.title == "b" && theirs.objectID == id && far.object(with: id) === theirs)
        for pass in 0..<2 {
            for other in [id, book] as [NSObject] {
                #expect(try far.all(Book.self, where: "SELF == %@", [other]) == [theirs])
                #expect(try far.all(Book.self, where: "SELF IN %@", [[other]]) == [theirs])
                #expect(try far.all(Book.self, where: "SELF != %@", [other]).isEmpty)
            }
            for other in [authorID, author] as [NSObject] {
                #expect(try far.all(Book.self, where: "author == %@", [other]) == [theirs])
                #expect(try far.all(Book.self, where: "author IN %@", [[other]]) == [theirs])
            }
            #expect(try far.all(Book.self, where: "ANY tags == %@", [tag.objectID]) == [theirs])
            #expect(try far.all(Book.self, where: "%@ IN tags", [tag]) == [theirs])
            theirs.pages = Int32(pass)
        }
        far.rollback()
        book.title = "new"
        let notes = Notifications(.NSManagedObjectContextDidSave, from: library.context)
        try library.context.save()
        far.mergeChanges(fromContextDidSave: try #require(notes.received.last))
        #expect(theirs.title == "new")
        library.context.delete(book)
        try library.context.save()
        far.mergeChanges(fromContextDidSave: try #require(notes.received.last))
        try far.save()
        #expect(theirs.managedObjectContext == nil && !far.hasChanges)
    }

    @Test("is good again when the store is removed and added again", arguments: StoreKind.allCases)
    func addedAgain(kind: StoreKind) throws {
        let library = try Library(kind)
        let book = try library.savedBook("b")
        let id = book.objectID
        try library.coordinator.remove(library.store)
        let context = library.newContext()
        #expect(throws: CocoaError.self) { _ = try context.existingObject(with: id) }
        let fault = try #require(context.object(with: id) as? Book)
        #expect(fault.title == nil && id.persistentStore == nil)
        #expect(library.context.registeredObject(for: id) === book && library.context.object(with: id) === book)
        // * A store of its own in between, which takes the next number.
        let other = try StoreHome(.memory)
        try library.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: other.url(), options: nil)
        let again = try library.coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: library.url, options: nil)
        #expect(id.persistentStore === again)
        #expect(try context.existingObject(with: id) === fault && fault.title == "b")
        #expect(try context.all(Book.self, where: "SELF == %@", [id]) == [fault])
        #expect(try context.all(Book.self, where: "SELF IN %@", [[id]]) == [fault])
        book.pages = 7
        try library.context.save()
        #expect(try library.sql("SELECT ZPAGES FROM ZBOOK") == "7")
    }

    @Test("leads nowhere once the store was emptied, which makes it another", arguments: StoreKind.allCases)
    func emptied(kind: StoreKind) throws {
        let library = try Library(kind)
        let old = try library.savedBook("old").objectID
        try library.coordinator.emptyPersistentStore(library.store)
        library.context.reset()
        let new = try library.savedBook("new")
        #expect(new.objectID != old && new.objectID.identity.key == old.identity.key)
        let far = try library.separateContext()
        for context in [library.context, far] {
            #expect(throws: CocoaError.self) { _ = try context.existingObject(with: old) }
            #expect(try context.all(Book.self, where: "SELF == %@", [old]).isEmpty)
            #expect(try context.all(Book.self, where: "SELF == %@", [new.objectID]).count == 1)
            #expect(try context.all(Book.self, where: "SELF IN %@", [[new.objectID]]).count == 1)
        }
        #expect(try (far.existingObject(with: new.objectID) as? Book)?.title == "new")
    }

    @Test("is told by the entity's name where the other model has it elsewhere")
    func otherVersion() throws {
        let folder = try StoreHome(.file)
        func context(_ names: [String]) throws -> NSManagedObjectContext {
            let model = NSManagedObjectModel()
            model.entities = names.map {
                LibraryModel.entity($0, NSManagedObject.self, [LibraryModel.attribute("n", .stringAttributeType)])
            }
            model.setEntities(model.entities.filter { $0.name == "Kept" }, forConfigurationName: "C")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "C", at: folder.url(), options: nil)
            return Library.context(on: coordinator)
        }
        let here = try context(["Kept"])
        let kept = NSEntityDescription.insertNewObject(forEntityName: "Kept", into: here)
        kept.setValue("n", forKey: "n")
        try here.save()
        let there = try context(["Added", "Before", "Kept"])
        let same = try there.existingObject(with: kept.objectID)
        #expect(same.entity.name == "Kept" && same.value(forKey: "n") as? String == "n")
        #expect(same.objectID == kept.objectID && same.objectID.hash == kept.objectID.hash)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Kept")
        request.predicate = NSPredicate(format: "SELF == %@", kept)
        #expect(try there.fetch(request) == [same])
        #expect(try here.existingObject(with: same.objectID) === kept)
    }

    @Test("is of one store only: a copy with the same UUID is refused with 134080")
    func copies() throws {
        let library = try Library()
        _ = try library.savedBook()
        let copy = library.home.folder.file("Copy.sqlite")
        _ = try library.sql("VACUUM INTO '\(copy.path)'")
        #expect(
            errorCode {
                try library.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: copy, options: nil)
            } == NSPersistentStoreOpenError
        )
        #expect(library.coordinator.persistentStores == [library.store])
    }
}

@Suite("A temporary ID that was looked up")
struct TemporaryLookUpTests {
    @Test(
        "in another layer before the save gives one object there",
        arguments: [(false, false), (false, true), (true, false), (true, true)]
    )
    func layers(isPooled: Bool, reads: Bool) throws {
        for kind in StoreKind.allCases {
            let layers = Layers(try Library(kind))
            if isPooled {
                // * The store has keys at hand from the first save on.
                _ = Tag(context: layers.worker)
                try layers.saveAll()
            }
            let tag = Tag(context: layers.worker)
            tag.label = "t"
            let id = tag.objectID
            let contexts = [layers.main, layers.root, layers.newWorker()]
            let early = contexts.map { $0.object(with: id) }
            if reads { for object in early { #expect(object.value(forKey: "label") == nil) } }
            try layers.saveAll()
            for (context, object) in zip(contexts, early) {
                #expect(context.object(with: id) === object && context.object(with: tag.objectID) === object)
                #expect(try context.existingObject(with: tag.objectID) === object && object.value(forKey: "label") as? String == "t")
                #expect(try context.all(Tag.self, where: "SELF == %@", [id]).elementsEqual([object], by: ===))
                #expect(!object.isDeleted && !context.hasChanges)
                try context.save()
            }
            try layers.saveAll()
            #expect(try layers.library.sql("SELECT COUNT(*) FROM ZTAG WHERE ZLABEL = 't'") == "1")
        }
    }
}

@Suite("An object assigned to a store")
struct AssignmentTests {
    @Test("after it was related is the object of its relationships", arguments: StoreKind.allCases, [false, true])
    func afterRelating(kind: StoreKind, inChild: Bool) throws {
        let library = try Library(kind)
        let root = library.context
        let context = inChild ? Layers.child(of: root, "child") : root
        let (book, author, tag) = (Book(context: context), Author(context: context), Tag(context: context))
        (book.title, author.name) = ("b", "a")
        (book.author, book.tags) = (author, [tag])
        let id = author.objectID
        for object in [author, tag, book] { context.assign(object, to: library.store) }
        #expect(book.author === author && author.books == [book] && context.object(with: id) === author)
        book.author?.age = 50
        author.penName = "p"
        book.author = nil
        #expect(author.books.isEmpty)
        book.author = author
        try context.save()
        if inChild { try root.save() }
        #expect(try library.sql("SELECT ZAGE, ZPENNAME, COUNT(*) FROM ZPERSON JOIN ZBOOK ON ZBOOK.ZAUTHOR = ZPERSON.Z_PK") == "50|p|1")
        #expect(book.author === author && context.registeredObjects.count == 3)
    }

    @Test("assign(_:to:) stops the program where the store's configuration has no such entity")
    func assignToStranger() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let home = try StoreHome(.file)
            let model = LibraryModel.make()
            let person = ["Person", "Author", "Desk", "Book", "Chapter", "Tag"].compactMap { model.entitiesByName[$0] }
            model.setEntities(person, forConfigurationName: "all")
            model.setEntities([], forConfigurationName: "none")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "all", at: home.url("a"), options: nil)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType,
                configurationName: "none",
                at: home.url("b"),
                options: nil
            )
            let context = Library.context(on: coordinator)
            context.assign(Tag(context: context), to: store)
        }
        #expect(complaint(result).contains("does not contain the object's entity"))
    }
}
