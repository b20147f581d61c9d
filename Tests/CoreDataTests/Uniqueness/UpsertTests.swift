import Foundation
import Testing

@testable import CoreData

@Suite("A uniqueness constraint under a policy that resolves")
struct UpsertTests {
    static let resolving: [NSMergePolicyType] = [
        .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .overwriteMergePolicyType,
        .rollbackMergePolicyType,
    ]

    private func place(_ kind: StoreKind, _ policy: NSMergePolicyType) throws -> UniqueStore {
        try UniqueStore(kind, NSMergePolicy(merge: policy))
    }

    private func expected(_ policy: NSMergePolicyType, trump: String, overwrite: String, store: String) -> String {
        switch policy {
        case .mergeByPropertyObjectTrumpMergePolicyType: trump
        case .overwriteMergePolicyType: overwrite
        default: store
        }
    }

    @Test("a new object goes into the row of the store, which keeps its key", arguments: StoreKind.allCases, resolving)
    func upsert(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let place = try place(kind, policy)
        try place.saved("a", "b", score: 5)
        let context = place.context
        let object = context.make("Owner", ["name": "b", "note": "new"])
        let other = context.make("Owner", ["name": "c"])
        try context.save()
        let rows = expected(policy, trump: "2|b|new|5", overwrite: "2|b|new|7", store: "2|b|stored|5")
        #expect(
            try place.home.sql("SELECT Z_PK, ZNAME, ZNOTE, ZSCORE FROM ZOWNER WHERE ZNAME <> 'c' ORDER BY 1") == "1|a|stored|5\n\(rows)"
        )
        #expect(object.managedObjectContext == nil && !context.hasChanges)
        #expect(!context.registeredObjects.contains(object))
        let survivor = try context.found("Owner", "name", "b")
        #expect(survivor !== object && survivor.text("note") == (rows.contains("new") ? "new" : "stored"))
        #expect(other.managedObjectContext === context && !other.objectID.isTemporaryID)
        survivor.setValue("later", forKey: "note")
        try context.save()
        #expect(try place.home.sql("SELECT ZNOTE FROM ZOWNER WHERE ZNAME = 'b'") == "later")
    }

    @Test("what goes into the row of the store has changed in the event that tells of it", arguments: StoreKind.allCases)
    func event(_ kind: StoreKind) throws {
        let place = try place(kind, .mergeByPropertyObjectTrumpMergePolicyType)
        try place.saved("a")
        place.context.make("Owner", ["name": "a", "note": "new"])
        var seen: [NSDictionary] = []
        let changes = Notifications(.NSManagedObjectContextObjectsDidChange, from: place.context) { notification in
            let updated = notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
            seen += updated.map { $0.changedValuesForCurrentEvent() as NSDictionary }
        }
        try place.context.save()
        withExtendedLifetime(changes) { #expect(seen == [["name": "a", "note": "new"]]) }
    }

    @Test("what was set to nil is set, relationships too", arguments: StoreKind.allCases)
    func nils(_ kind: StoreKind) throws {
        let place = try place(kind, .mergeByPropertyObjectTrumpMergePolicyType)
        let context = place.context
        let team = context.make("Team", ["name": "red"])
        context.make("Owner", ["name": "a", "note": "stored", "team": team])
        context.make("Owner", ["name": "b", "note": "stored", "team": team])
        try context.save()
        let object = context.make("Owner", ["name": "a"])
        object.setValue(nil, forKey: "note")
        object.setValue(nil, forKey: "team")
        context.make("Owner", ["name": "b"])
        try context.save()
        #expect(try place.home.sql("SELECT ZNAME, ZNOTE, ZTEAM IS NULL FROM ZOWNER ORDER BY 1") == "a||1\nb|stored|0")
        #expect(team.members("members").map { $0.text("name") } == ["b"])
    }

    @Test("a registered object of the row survives as it is", arguments: StoreKind.allCases, resolving)
    func registered(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let place = try place(kind, policy)
        try place.saved("a")
        let context = place.context
        let known = try context.found("Owner", "name", "a")
        known.setValue(9, forKey: "score")
        context.make("Owner", ["name": "a", "note": "new"])
        try context.save()
        #expect(try place.owners() == expected(policy, trump: "1|a|new|9", overwrite: "1|a|new|7", store: "1|a|stored|9"))
        #expect(known.managedObjectContext === context && known.number("score") == (policy == .overwriteMergePolicyType ? 7 : 9))
    }

    @Test("of several new objects the first is inserted, and the others are as if saved after it", arguments: StoreKind.allCases, resolving)
    func among(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let place = try place(kind, policy)
        let context = place.context
        let first = context.make("Owner", ["name": "a", "note": "first", "score": 1])
        context.make("Owner", ["name": "a", "note": "second"])
        let third = context.make("Owner", ["name": "a", "score": 3])
        try context.save()
        let row = expected(policy, trump: "a|second|3", overwrite: "a||3", store: "a|first|1")
        #expect(try place.home.sql("SELECT ZNAME, ZNOTE, ZSCORE FROM ZOWNER") == row)
        #expect(first.managedObjectContext === context && third.managedObjectContext == nil)
        #expect(context.registeredObjects == [first])
    }

    @Test("what referred to the new object refers to the row's", arguments: StoreKind.allCases, resolving)
    func relationships(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let place = try place(kind, policy)
        let other = try place.otherContext()
        let stored = other.make("Owner", ["name": "a"])
        other.make("Pet", ["name": "old", "owner": stored])
        other.make("Team", ["name": "reds"]).setValue(Set([stored]), forKey: "members")
        other.make("Club", ["name": "chess"]).setValue(Set([stored]), forKey: "members")
        try other.save()
        let context = place.context
        let object = context.make("Owner", ["name": "a"])
        let pet = context.make("Pet", ["name": "new", "owner": object])
        let team = context.make("Team", ["name": "blues"])
        object.setValue(team, forKey: "team")
        let club = context.make("Club", ["name": "go"])
        object.setValue(Set([club, try context.found("Club", "name", "chess")]), forKey: "clubs")
        let badge = context.make("Badge", ["code": "1", "owner": object])
        let memo = context.make("Memo", ["text": "m", "about": object, "others": Set([object])])
        try context.save()
        let survivor = try context.found("Owner", "name", "a")
        #expect(survivor.number("score") == 7 && survivor !== object)
        #expect(pet.target("owner") === survivor && badge.target("owner") === survivor && memo.target("about") === survivor)
        #expect(memo.members("others") == [survivor])
        #expect(survivor.members("pets").count == 2 && survivor.members("clubs").count == 2)
        let objectWins = policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
        #expect(survivor.target("team")?.text("name") == (objectWins ? "blues" : "reds"))
        #expect(team.members("members") == (objectWins ? [survivor] : []))
        #expect(try place.home.sql("SELECT ZNAME, ZOWNER FROM ZPET ORDER BY 1") == "new|1\nold|1")
        #expect(try place.home.sql("SELECT ZOWNER FROM ZBADGE; SELECT ZABOUT FROM ZMEMO") == "1\n1")
        #expect(try place.home.sql("SELECT count(*) FROM ZOWNER") == "1")
    }

    @Test("values that move between rows of one save are no conflict", arguments: StoreKind.allCases, resolving + [.errorMergePolicyType])
    func moves(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let place = try place(kind, policy)
        try place.saved("a", "b", "c", "d")
        let context = place.context
        let objects = try ["a", "b", "c", "d"].map { try context.found("Owner", "name", $0) }
        // * Two swap, one gives its value to a new one, one is deleted and its value taken.
        objects[0].setValue("b", forKey: "name")
        objects[1].setValue("a", forKey: "name")
        objects[2].setValue("e", forKey: "name")
        context.make("Owner", ["name": "c"])
        context.delete(objects[3])
        context.make("Owner", ["name": "d"])
        try context.save()
        #expect(try place.home.sql("SELECT Z_PK, ZNAME FROM ZOWNER WHERE Z_PK <= 4 ORDER BY 1") == "1|b\n2|a\n3|e")
        #expect(try place.home.sql("SELECT ZNAME FROM ZOWNER WHERE Z_PK > 4 ORDER BY 1") == "c\nd")
        #expect(try place.home.sql("SELECT Z_OPT FROM ZOWNER WHERE Z_PK <= 3 ORDER BY Z_PK") == "2\n2\n2")
    }

    @Test("a swap of one of two properties is no conflict", arguments: StoreKind.allCases)
    func partialSwap(_ kind: StoreKind) throws {
        let place = try UniqueStore(kind)
        let context = place.context
        let seats = [1.0, 2.0].map { context.make("Seat", ["row": 1, "number": $0, "label": "\($0)"]) }
        try context.save()
        seats[0].setValue(2.0, forKey: "number")
        seats[1].setValue(1.0, forKey: "number")
        try context.save()
        #expect(try place.home.sql("SELECT Z_PK, ZROW, ZNUMBER FROM ZSEAT WHERE ZLABEL = '1.0'").hasSuffix("|1|2.0"))
        #expect(try place.home.sql("SELECT ZROW, ZNUMBER FROM ZSEAT WHERE ZLABEL = '2.0'") == "1|1.0")
    }

    @Test("an update that collides takes the other row's place, or is taken back", arguments: StoreKind.allCases, resolving)
    func updates(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let place = try place(kind, policy)
        let other = try place.otherContext()
        let stored = other.make("Owner", ["name": "a", "note": "stored"])
        other.make("Pet", ["name": "rex", "owner": stored])
        other.make("Owner", ["name": "b", "note": "second", "score": 2])
        try other.save()
        let context = place.context
        let changed = try context.found("Owner", "name", "b")
        changed.setValue("a", forKey: "name")
        changed.setValue("edited", forKey: "note")
        try context.save()
        let rows = try place.home.sql("SELECT ZNAME, ZNOTE, ZSCORE FROM ZOWNER ORDER BY 1, 2")
        switch policy {
        case .mergeByPropertyStoreTrumpMergePolicyType: #expect(rows == "a|stored|7\nb|edited|2")
        case .rollbackMergePolicyType: #expect(rows == "a|stored|7\nb|second|2")
        default: #expect(rows == "a|edited|2")
        }
        let pet = try context.found("Pet", "name", "rex")
        #expect(pet.target("owner")?.text("name") == "a")
        #expect(try place.home.sql("SELECT ZNAME FROM ZOWNER WHERE Z_PK = (SELECT ZOWNER FROM ZPET)") == "a")
        #expect(!context.hasChanges)
    }

    // * An owner takes a name that is taken, a pet of another owner, and a club.
    // => It has its own name again. The pet's reference is the pet's own, and saved; under the rollback policy it is not in the club.
    @Test(
        "an object that is taken back keeps what leads to it",
        arguments: StoreKind.allCases,
        [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType]
    )
    func members(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let place = try place(kind, policy)
        try place.saved("a", "b", "c")
        let context = place.context
        let (taken, former) = (try context.found("Owner", "name", "b"), try context.found("Owner", "name", "c"))
        let pet = context.make("Pet", ["name": "rex", "owner": former])
        let club = context.make("Club", ["name": "chess"])
        try context.save()
        taken.setValue("a", forKey: "name")
        pet.setValue(taken, forKey: "owner")
        club.mutableSetValue(forKey: "members").add(taken)
        try context.save()
        let isWhole = policy == .rollbackMergePolicyType
        for context in [context, try place.otherContext()] {
            let (taken, former) = (try context.found("Owner", "name", "b"), try context.found("Owner", "name", "c"))
            #expect(try context.found("Pet", "name", "rex").target("owner") === taken)
            #expect(taken.mutableSetValue(forKey: "pets").count == 1 && former.mutableSetValue(forKey: "pets").count == 0)
            #expect(taken.mutableSetValue(forKey: "clubs").count == (isWhole ? 0 : 1))
            #expect(try context.found("Club", "name", "chess").mutableSetValue(forKey: "members").count == (isWhole ? 0 : 1))
            #expect(!context.hasChanges)
        }
    }

    @Test("one new object that meets two rows through two constraints makes them one, or goes", arguments: StoreKind.allCases, resolving)
    func twoConstraints(_ kind: StoreKind, _ policy: NSMergePolicyType) throws {
        let place = try place(kind, policy)
        let other = try place.otherContext()
        other.make("Seat", ["row": 1, "number": 1.0, "label": "x"])
        other.make("Seat", ["row": 2, "number": 2.0, "label": "y"])
        try other.save()
        place.context.make("Seat", ["row": 1, "number": 1.0, "label": "y"])
        try place.context.save()
        let rows = try place.home.sql("SELECT ZROW, ZNUMBER, ZLABEL FROM ZSEAT ORDER BY 1")
        #expect(rows == expected(policy, trump: "1|1.0|y", overwrite: "1|1.0|y", store: "1|1.0|x\n2|2.0|y"))
        #expect(!place.context.hasChanges)
    }

    @Test("an object of a subentity gives a row of its super entity what that can have", arguments: StoreKind.allCases)
    func subentities(_ kind: StoreKind) throws {
        let place = try place(kind, .mergeByPropertyObjectTrumpMergePolicyType)
        try place.saved("a")
        let context = place.context
        context.make("Manager", ["name": "a", "note": "manager", "desk": "1"])
        context.make("Manager", ["name": "m", "desk": "2"])
        try context.save()
        context.make("Manager", ["name": "n", "desk": "2", "score": 4])
        try context.save()
        #expect(try place.home.sql("SELECT ZNAME, ZNOTE, ZSCORE, ZDESK FROM ZOWNER ORDER BY 1") == "a|manager|1|\nn||4|2")
    }

    @Test(
        "between two contexts, whichever coordinators they have, the later save is the upsert",
        arguments: StoreKind.allCases,
        [true, false]
    )
    func contexts(_ kind: StoreKind, _ isSeparate: Bool) throws {
        let place = try place(kind, .mergeByPropertyObjectTrumpMergePolicyType)
        let other = try place.otherContext(separate: isSeparate)
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for (number, context) in [place.context, other, place.context].enumerated() {
            context.make("Owner", ["name": "a", "score": number])
            context.make("Owner", ["name": "own \(number)"])
            try context.save()
        }
        #expect(try place.home.sql("SELECT ZSCORE FROM ZOWNER WHERE ZNAME = 'a'") == "2")
        #expect(try place.home.sql("SELECT count(*) FROM ZOWNER") == "4")
    }

    @Test("a policy of the program's own sees the conflicts and decides over its super's values")
    func ownPolicy() throws {
        final class Adding: NSMergePolicy, @unchecked Sendable {
            override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
                let sums = list.map { conflict in
                    (
                        conflict.databaseObject,
                        ([conflict.databaseObject].compactMap { $0 } + conflict.conflictingObjects).reduce(0) {
                            $0 + ($1.number("score") ?? 0)
                        }
                    )
                }
                try super.resolve(constraintConflicts: list)
                for (object, sum) in sums { object?.setValue(sum, forKey: "score") }
            }
        }
        let place = try UniqueStore(.file, Adding(merge: .mergeByPropertyObjectTrumpMergePolicyType))
        try place.saved("a", score: 5)
        place.context.make("Owner", ["name": "a", "score": 10])
        try place.context.save()
        #expect(try place.owners() == "1|a|stored|15")
    }

    @Test("thousands of objects are merged with a bounded number of statements")
    func many() throws {
        let place = try place(.file, .mergeByPropertyObjectTrumpMergePolicyType)
        let count = 2000
        for number in 0..<count { place.context.make("Owner", ["name": "n\(number)", "note": "old"]) }
        try place.context.save()
        let context = try place.otherContext(separate: false)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for number in 0..<2 * count { context.make("Owner", ["name": "n\(number)", "note": "new"]) }
        let selects = try place.store.counter.recording { try context.save() }.filter { $0.contains("SELECT") }
        #expect(selects.count < 30, "\(selects.count)")
        #expect(try place.home.sql("SELECT count(*), count(DISTINCT ZNAME), min(ZNOTE) FROM ZOWNER") == "4000|4000|new")
    }
}
