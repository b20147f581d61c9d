import CoreData
import Foundation
import Testing

@Suite("Validation")
struct ValidationTests {
    private let stage: Stage
    private let rules = Guarded.Rules()
    private var context: NSManagedObjectContext { stage.context }

    init() throws {
        Guarded.register()
        stage = try Stage(Self.entities)
        stage.context.userInfo["rules"] = rules
    }

    private static func entities() -> [NSEntityDescription] {
        let code = LibraryModel.attribute("code", .stringAttributeType)
        code.setValidationPredicates(
            [NSPredicate(format: "length >= %d", 2), NSPredicate(format: "SELF MATCHES %@", "[a-z]+")],
            withValidationWarnings: ["too short", "lower case only"]
        )
        let level = LibraryModel.attribute("level", .integer32AttributeType)
        level.setValidationPredicates(
            [NSPredicate(format: "SELF >= %d", 0), NSPredicate(format: "SELF <= %d", 10)],
            withValidationWarnings: ["1620", "1610"]
        )
        let email = LibraryModel.attribute("email", .stringAttributeType, isOptional: false)
        // What is mandatory may have rules, too.
        email.setValidationPredicates([NSPredicate(format: "length >= %d", 0)], withValidationWarnings: ["of no length"])
        let owner = LibraryModel.entity(
            "Owner",
            Guarded.self,
            [
                LibraryModel.attribute("name", .stringAttributeType, isOptional: false), email,
                LibraryModel.attribute("ratio", .doubleAttributeType), LibraryModel.attribute("part", .floatAttributeType), code, level,
            ]
        )
        let pet = LibraryModel.entity("Pet", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
        let pets = LibraryModel.relate(owner, "pets", toMany: true, .nullifyDeleteRule, pet, "owner", toMany: false, .nullifyDeleteRule)
        (pets.minCount, pets.maxCount) = (2, 3)
        return [owner, pet]
    }

    private func owner(name: String? = "N", email: String? = "E", pets: Int = 0) -> Guarded {
        let owner = Guarded(context: context)
        owner["name"] = name
        owner["email"] = email
        for _ in 0..<pets { pet(of: owner) }
        return owner
    }

    @discardableResult private func pet(of owner: NSManagedObject?) -> NSManagedObject {
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
        pet["owner"] = owner
        return pet
    }

    /// The failures of a save: code, key, value.
    private func failures() -> [String] {
        do {
            try context.save()
            return []
        } catch {
            let error = error as NSError
            let all = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
            #expect(all.count == 1 || error.code == NSValidationMultipleErrorsError)
            return all.map { error in
                let error = error as NSError
                let value = error.userInfo[NSValidationValueErrorKey].map { " \($0)" } ?? ""
                return "\(error.code) \(error.userInfo[NSValidationKeyErrorKey] ?? "?")\(value)"
            }.sorted()
        }
    }

    @Test("reports one missing value as itself, 1570, with object and key")
    func single() throws {
        let object = owner(email: nil)
        do {
            try context.save()
            Issue.record("The save succeeded.")
        } catch {
            let error = error as NSError
            #expect(error.domain == NSCocoaErrorDomain && error.code == NSValidationMissingMandatoryPropertyError)
            #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object)
            #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "email")
            #expect(error.localizedDescription.contains("email"))
        }
        #expect(throws: CocoaError.self) { try object.validateForInsert() }
    }

    @Test("reports all errors of all objects under 1560, without nesting")
    func several() throws {
        _ = owner(name: nil, email: nil)
        _ = owner(email: nil)
        #expect(failures() == ["1570 email", "1570 email", "1570 name"])
        #expect(errorCode { try context.save() } == NSValidationMultipleErrorsError)
    }

    @Test("lets an empty string pass as a value")
    func emptyString() throws {
        _ = owner(name: "", email: "")
        try context.save()
        #expect(try stage.sql("SELECT ZNAME = '' FROM ZOWNER") == "1")
    }

    @Test("counts the objects of a relationship: 1580, 1590, and none where it is optional")
    func counts() throws {
        let object = owner(pets: 1)
        #expect(failures() == ["1580 pets 1"])
        for _ in 0..<3 { pet(of: object) }
        #expect(failures() == ["1590 pets 4"])
        object["pets"] = nil
        #expect(failures() == [])
        let other = try stage.separateContext()
        let same = try other.only(NSManagedObject.self, "Owner")
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: other)
        // * Added to a relationship that was not read.
        pet["owner"] = same
        #expect(errorCode { try other.save() } == NSValidationRelationshipLacksMinimumCountError)
    }

    @Test("applies validation predicates with their warnings, an error code or a text, and not to nil")
    func predicates() throws {
        let object = owner()
        object["code"] = "x"
        #expect(failures() == ["1550 code x"])
        object["code"] = "ABC"
        do { try context.save() } catch { #expect(error.localizedDescription.contains("lower case only")) }
        #expect(failures() == ["1550 code ABC"])
        object["code"] = "abc"
        object["level"] = 11
        #expect(failures() == ["1610 level 11"])
        object["level"] = -1
        #expect(failures() == ["1620 level -1"])
        object["level"] = 10
        #expect(failures() == [])
    }

    @Test("calls a number that no integer holds too large or too small")
    func beyondIntegers() throws {
        let object = owner()
        for (number, code) in [(1e20, "1610"), (9.3e18, "1610"), (-1e20, "1620"), (.infinity, "1610"), (-.infinity, "1620")] {
            object["level"] = number
            #expect(failures().map { $0.prefix(10) } == ["\(code) level"])
        }
        object["level"] = UInt64.max
        #expect(failures() == ["1610 level \(Int64.max)"])
    }

    @Test("refuses a number that is none", arguments: ["ratio", "part"])
    func notANumber(key: String) throws {
        let object = owner()
        object[key] = key == "part" ? Float.nan : Double.nan
        #expect(failures().count == 1)
        object[key] = Double.infinity
        #expect(failures() == [])
    }

    @Test("refuses a date that is no number, whether or not the attribute is mandatory", arguments: [true, false])
    func noDate(isOptional: Bool) throws {
        let stage = try Stage {
            [LibraryModel.entity("Event", NSManagedObject.self, [LibraryModel.attribute("at", .dateAttributeType, isOptional: isOptional)])]
        }
        let event = NSEntityDescription.insertNewObject(forEntityName: "Event", into: stage.context)
        event.setValue(Date(timeIntervalSinceReferenceDate: .nan), forKey: "at")
        #expect(errorCode { try stage.context.save() } == 1650)
        #expect(try stage.sql("SELECT count(*) FROM ZEVENT") == "0")
        event.setValue(Date(timeIntervalSinceReferenceDate: .infinity), forKey: "at")
        try stage.context.save()
    }

    @Test("takes an object, as code for a Mac has it, and asks the class's own rule")
    func objectValue() throws {
        rules.value = { value, _ in value = (value as? String)?.lowercased() }
        let object = owner()
        var value: AnyObject? = NSString("LOUD")
        try object.validateValue(&value, forKey: "name")
        #expect(value as? String == "loud" && value is NSString)
        value = nil
        cocoaError(1570) { try object.validateValue(&value, forKey: "name") }
    }

    @Test("asks validateValue for every property, and combines its errors with the model's, each once")
    func customValue() throws {
        rules.value = { value, key in
            if key == "name", value as? String == "bad" { throw CocoaError(.coreData, userInfo: [NSValidationKeyErrorKey: "name"]) }
        }
        let object = owner(name: "bad", email: nil)
        #expect(failures() == ["134060 name", "1570 email"])
        object["name"] = "good"
        object["email"] = "e"
        #expect(failures() == [])
    }

    @Test("saves a value that validateValue replaced")
    func changedValue() throws {
        rules.value = { value, key in if key == "name", let text = value as? String { value = text.lowercased() } }
        let object = owner(name: "LOUD")
        try context.save()
        #expect(object["name"] as? String == "loud" && !object.hasChanges)
        #expect(try stage.sql("SELECT ZNAME FROM ZOWNER") == "loud")
    }

    @Test("combines what validateForInsert and validateForUpdate of a subclass throw")
    func customObject() throws {
        let own = NSError(domain: NSCocoaErrorDomain, code: 1550, userInfo: [NSValidationKeyErrorKey: "whole"])
        rules.insert = { throw own }
        rules.update = { throw own }
        let object = owner(email: nil)
        #expect(failures() == ["1550 whole", "1570 email"])
        rules.insert = {}
        object["email"] = "e"
        #expect(failures() == [])
        object["email"] = nil
        #expect(failures() == ["1550 whole", "1570 email"])
    }

    @Test(
        "finds nothing wrong with an empty to-many relationship that needs no members, be it optional or mandatory",
        arguments: [true, false]
    )
    func emptyToMany(isOptional: Bool) throws {
        let stage = try Stage {
            let folder = LibraryModel.entity("Folder", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let paper = LibraryModel.entity("Paper", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let papers = LibraryModel.relate(
                folder,
                "papers",
                toMany: true,
                .nullifyDeleteRule,
                paper,
                "folder",
                toMany: false,
                .nullifyDeleteRule
            )
            (papers.isOptional, papers.maxCount) = (isOptional, 2)
            return [folder, paper]
        }
        let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: stage.context)
        try stage.context.save()
        let papers = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Paper", into: stage.context) }
        folder["papers"] = Set(papers[..<2])
        try stage.context.save()
        folder["papers"] = Set(papers)
        #expect(errorCode { try stage.context.save() } == NSValidationRelationshipExceedsMaximumCountError)
        folder["papers"] = Set<NSManagedObject>()
        try stage.context.save()
        var value: Any? = Set<NSManagedObject>()
        try folder.validateValue(&value, forKey: "papers")
        #expect(try stage.sql("SELECT COUNT(*) FROM ZPAPER WHERE ZFOLDER IS NOT NULL") == "0")
    }

    @Test("asks a deleted object only for its delete")
    func deleted() throws {
        let object = owner()
        try context.save()
        object["name"] = nil
        context.delete(object)
        rules.calls = []
        rules.delete = { throw NSError(domain: NSCocoaErrorDomain, code: 1600, userInfo: [NSValidationKeyErrorKey: "stay"]) }
        #expect(failures() == ["1600 stay"])
        #expect(rules.calls == ["delete"])
        rules.delete = {}
        #expect(failures() == [])
        #expect(try stage.sql("SELECT COUNT(*) FROM ZOWNER") == "0")
    }

    @Test("that fails leaves everything pending and the file as it was; the next save writes it all")
    func pendingAfterFailure() throws {
        let kept = owner(name: "kept")
        let gone = owner(name: "gone")
        try context.save()
        let saves = Notifications(.NSManagedObjectContextDidSave, from: context)
        kept["name"] = "renamed"
        context.delete(gone)
        let new = owner(name: nil)
        #expect(failures() == ["1570 name"])
        #expect(saves.received.isEmpty)
        #expect(context.insertedObjects == [new] && context.updatedObjects == [kept] && context.deletedObjects == [gone])
        #expect(new.objectID.isTemporaryID)
        #expect(try stage.sql("SELECT ZNAME FROM ZOWNER ORDER BY 1") == "gone\nkept")
        new["name"] = "new"
        #expect(failures() == [])
        #expect(try stage.sql("SELECT ZNAME FROM ZOWNER ORDER BY 1") == "new\nrenamed")
    }

    // * A validation deletes another object, and changes a third.
    @Test("carries along delete rules what it deletes, and validates what it changes, until nothing changes any more")
    func changesWhileValidating() throws {
        let (kept, gone) = (owner(name: "kept", pets: 2), owner(name: "gone", pets: 2))
        let pets = try #require(gone["pets"] as? Set<NSManagedObject>)
        #expect(failures() == [])
        rules.update = { [context] in if !gone.isDeleted { context.delete(gone) } }
        kept["name"] = "renamed"
        #expect(failures() == [])
        #expect(try stage.sql("SELECT ZNAME FROM ZOWNER") == "renamed")
        #expect(try stage.sql("SELECT COUNT(*), COUNT(ZOWNER) FROM ZPET") == "4|2")
        #expect(pets.allSatisfy { $0["owner"] == nil } && !context.hasChanges)
        // * What it sets is refused.
        rules.update = { kept["level"] = 11 }
        kept["name"] = "again"
        #expect(failures() == ["1610 level 11"])
        // * What it sets is the same every time.
        kept["level"] = 0
        rules.update = { kept["level"] = 3 }
        #expect(failures() == [])
        #expect(try stage.sql("SELECT ZNAME, ZLEVEL FROM ZOWNER") == "again|3")
    }

    @Test("takes a text that a class puts into another Unicode form")
    func unicodeForms() throws {
        rules.value = { value, key in if key == "name" { value = (value as? String)?.precomposedStringWithCanonicalMapping } }
        let owner = owner(name: "e\u{301}", pets: 2)
        try context.save()
        #expect((owner.value(forKey: "name") as? String)?.unicodeScalars.count == 1)
        #expect(try stage.sql("SELECT HEX(ZNAME) FROM ZOWNER") == "C3A9")
    }

    @Test(
        "refuses by validateValue what a setter would not take",
        arguments: [
            ("level", "text", NSManagedObjectValidationError), ("level", 1 << 40, NSValidationNumberTooLargeError),
            ("level", -1 << 40, NSValidationNumberTooSmallError), ("name", 5, NSManagedObjectValidationError),
            ("ratio", Date.distantPast, NSManagedObjectValidationError), ("level", 5, 0), ("level", NSNumber(value: 5), 0), ("ratio", 1, 0),
            ("name", "N", 0),
        ] as [(String, any Sendable, Int)]
    )
    func kinds(key: String, value: any Sendable, code: Int) {
        let owner = owner()
        #expect(
            errorCode {
                var value: Any? = value
                try owner.validateValue(&value, forKey: key)
            } == code
        )
    }

    @Test("refuses by validateValue an object of another entity")
    func kindsOfObjects() {
        let (owner, pet) = (owner(), pet(of: nil))
        var (right, wrong): (Any?, Any?) = (owner, pet)
        #expect(errorCode { try pet.validateValue(&right, forKey: "owner") } == 0)
        #expect(errorCode { try pet.validateValue(&wrong, forKey: "owner") } == NSManagedObjectValidationError)
    }
}
