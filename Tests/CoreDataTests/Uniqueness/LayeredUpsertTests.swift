import Foundation
import Testing

@testable import CoreData

@Suite("Under root, main and workers, a broken uniqueness constraint")
struct LayeredUpsertTests {
    private struct Stack {
        let place: UniqueStore
        let root: NSManagedObjectContext
        let main: NSManagedObjectContext
        let worker: NSManagedObjectContext

        init(_ policy: NSMergePolicy, follows: Bool) throws {
            place = try UniqueStore(.file, policy)
            root = place.context
            main = Layers.child(of: root, "main")
            worker = Layers.child(of: main, "worker")
            for context in [main, worker] { context.automaticallyMergesChangesFromParent = follows }
        }

        func save() throws { for context in [worker, main, root] { try context.save() } }

        /// Lets each context do what it was told meanwhile.
        func catchUp() { for context in [root, main, worker] { context.performAndWait {} } }
    }

    @Test("comes down: the loser is gone, and what referred to it refers to the survivor", arguments: [false, true], [false, true])
    func comesDown(_ follows: Bool, _ hasKeys: Bool) throws {
        let stack = try Stack(.mergeByPropertyObjectTrump, follows: follows)
        try stack.place.saved("a", score: 5)
        let (main, worker) = (stack.main, stack.worker)
        if hasKeys {
            // * The root has keys in stock, which it gives to new objects before they are in the file.
            for _ in 0..<2 {
                for entity in ["Owner", "Pet"] { worker.make(entity) }
                try stack.save()
                stack.catchUp()
            }
        }
        let object = worker.make("Owner", ["name": "a", "note": "new"])
        let pet = worker.make("Pet", ["name": "rex", "owner": object])
        try worker.save()
        try main.save()
        stack.catchUp()
        let lost = main.object(with: object.objectID)
        let mainPet = main.object(with: pet.objectID)
        #expect(mainPet.target("owner") === lost)
        try stack.root.save()
        stack.catchUp()
        for (context, pet, lost) in [(main, mainPet, lost), (worker, pet, object)] {
            let survivor = try context.found("Owner", "name", "a")
            #expect(survivor !== lost && lost.managedObjectContext == nil)
            #expect(survivor.text("note") == "new" && survivor.number("score") == 5)
            #expect(pet.target("owner") === survivor && survivor.members("pets") == [pet])
            #expect(!context.hasChanges)
        }
        #expect(try stack.place.home.sql("SELECT Z_PK, ZNOTE, ZSCORE FROM ZOWNER WHERE ZNAME = 'a'") == "1|new|5")
        #expect(try stack.place.home.sql("SELECT ZOWNER FROM ZPET WHERE ZNAME = 'rex'") == "1")
    }

    // * Another worker has fetched the new object and read nothing of it yet, when the policy puts the store's object in its place. It sets a value,
    //   and relates new objects to it.
    @Test(
        "what another does to the object before it has read it reaches the survivor",
        arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback],
        [false, true]
    )
    func unread(_ policy: NSMergePolicy, _ follows: Bool) throws {
        let stack = try Stack(policy, follows: follows)
        try stack.place.saved("a")
        let other = Layers.child(of: stack.main, "other")
        stack.worker.make("Owner", ["name": "a", "note": "new"])
        try stack.worker.save()
        try stack.main.save()
        let object = try other.found("Owner", "note", "new")
        #expect(object.isFault)
        try stack.root.save()
        object.setValue(9, forKey: "score")
        let pet = other.make("Pet", ["name": "rex", "owner": object])
        let club = other.make("Club", ["name": "chess"])
        object.mutableSetValue(forKey: "clubs").add(club)
        #expect(!object.isDeleted && pet.target("owner") === object)
        try other.save()
        try stack.save()
        #expect(try stack.place.home.sql("SELECT Z_PK, ZNAME, ZSCORE FROM ZOWNER") == "1|a|9")
        #expect(try stack.place.home.sql("SELECT ZOWNER FROM ZPET") == "1")
        #expect(try stack.root.found("Club", "name", "chess").members("members").map { $0.text("name") } == ["a"])
    }

    @Test("what a worker has changed since then reaches the survivor")
    func laterChanges() throws {
        let stack = try Stack(.mergeByPropertyObjectTrump, follows: false)
        try stack.place.saved("a")
        let object = stack.worker.make("Owner", ["name": "a"])
        try stack.worker.save()
        try stack.main.save()
        object.setValue("later", forKey: "note")
        let pet = stack.worker.make("Pet", ["name": "rex", "owner": object])
        try stack.root.save()
        stack.catchUp()
        #expect(pet.target("owner")?.text("name") == "a")
        try stack.save()
        stack.catchUp()
        #expect(try stack.place.owners() == "1|a|later|1")
        #expect(try stack.place.home.sql("SELECT ZOWNER FROM ZPET") == "1")
    }

    @Test("what a worker saves before it has heard of it reaches the survivor", arguments: [false, true])
    func lateSaves(_ hasKeys: Bool) throws {
        let stack = try Stack(.mergeByPropertyObjectTrump, follows: false)
        try stack.place.saved("a")
        let (root, main, worker) = (stack.root, stack.main, stack.worker)
        func save() throws {
            try worker.save()
            try main.performAndWait { try main.save() }
            try root.performAndWait { try root.save() }
        }
        // * On its queue, the worker is told nothing before the block has ended.
        let pets = try worker.performAndWait {
            if hasKeys {
                for _ in 0..<2 {
                    for entity in ["Owner", "Pet"] { worker.make(entity) }
                    try save()
                }
            }
            let object = worker.make("Owner", ["name": "a"])
            let first = worker.make("Pet", ["name": "first", "owner": object])
            try save()
            object.setValue("later", forKey: "note")
            let pets = [first, worker.make("Pet", ["name": "second", "owner": object])]
            worker.make("Memo", ["text": "m", "about": object])
            try save()
            return pets
        }
        stack.catchUp()
        try worker.performAndWait {
            let survivor = try worker.found("Owner", "name", "a")
            #expect(pets.allSatisfy { $0.target("owner") === survivor })
            #expect(survivor.text("note") == "later")
        }
        #expect(try stack.place.home.sql("SELECT Z_PK, ZNOTE FROM ZOWNER WHERE ZNAME = 'a'") == "1|later")
        #expect(try stack.place.home.sql("SELECT ZNAME, ZOWNER FROM ZPET WHERE ZNAME <> '' ORDER BY 1") == "first|1\nsecond|1")
        #expect(try stack.place.home.sql("SELECT ZABOUT FROM ZMEMO") == "1")
    }

    @Test("under object trump, a value that was set to its default is a value")
    func setDefaults() throws {
        let stack = try Stack(.mergeByPropertyObjectTrump, follows: false)
        try stack.place.saved("a", score: 5)
        stack.worker.make("Owner", ["name": "a", "score": 7])
        try stack.save()
        #expect(try stack.place.owners() == "1|a|stored|7")
    }

    @Test("of two workers' new objects: one row, and both workers have its object", arguments: UpsertTests.resolving)
    func twoWorkers(_ policy: NSMergePolicyType) throws {
        let stack = try Stack(NSMergePolicy(merge: policy), follows: false)
        let second = Layers.child(of: stack.main, "second")
        let first = stack.worker.make("Owner", ["name": "a", "note": "first"])
        let other = second.make("Owner", ["name": "a", "note": "second"])
        try stack.worker.save()
        try second.save()
        try stack.main.save()
        try stack.root.save()
        stack.catchUp()
        second.performAndWait {}
        let objectWins = policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
        let note = objectWins ? "second" : "first"
        #expect(try stack.place.home.sql("SELECT ZNAME, ZNOTE FROM ZOWNER") == "a|\(note)")
        #expect(first.managedObjectContext === stack.worker && first.text("note") == note)
        #expect(other.managedObjectContext == nil)
        #expect(try second.found("Owner", "name", "a").text("note") == note)
        #expect(try stack.main.found("Owner", "name", "a").text("note") == note)
    }

    @Test("under the error policy it stays pending in the root, and a correction there comes through")
    func error() throws {
        let stack = try Stack(.error, follows: false)
        try stack.place.saved("a")
        let object = stack.worker.make("Owner", ["name": "a"])
        try stack.worker.save()
        try stack.main.save()
        let failure = cocoaError(133021) { try stack.root.save() }
        #expect((failure?.userInfo["conflictList"] as? [NSConstraintConflict])?.count == 1)
        #expect(stack.root.hasChanges)
        object.setValue("b", forKey: "name")
        try stack.save()
        #expect(try stack.place.home.sql("SELECT ZNAME FROM ZOWNER ORDER BY 1") == "a\nb")
    }
}
