import Foundation
import Testing

@testable import CoreData
@testable import ModelFormat

@Suite("A transformable attribute")
struct TransformableTests {
    let stage: Stage
    var context: NSManagedObjectContext { stage.context }

    init() throws { stage = try Stage { [Gadget.makeEntity()] } }

    private func reread() throws -> Gadget { try stage.separateContext().only(Gadget.self, "Gadget") }

    @Test("comes back from the file equal: texts, numbers, dates, data and collections of them")
    func roundTrip() throws {
        let values: [NSObject] = [
            NSString(string: "Grüße 👋"), NSNumber(value: 3), NSNumber(value: -2.5), NSNumber(value: true),
            NSDate(timeIntervalSinceReferenceDate: 1.5),
            NSData(data: Data([0, 1])), NSUUID(), NSArray(array: []), NSArray(array: ["a", 1, NSArray(array: [2.5])]),
            NSDictionary(dictionary: ["a": 1, "b": ["c": Date(timeIntervalSinceReferenceDate: 0)]]), NSSet(array: ["x", "y"]),
            NSOrderedSet(array: ["z", "a"]), Badge(corners: 3, name: "Dreieck"), NSArray(array: [Badge(corners: 4, name: "q"), "b"]),
        ]
        for value in values {
            let gadget = Gadget(context: context)
            gadget.setValue(value, forKey: "shape")
            try context.save()
            #expect(try reread().value(forKey: "shape") as? NSObject == value)
            context.delete(gadget)
            try context.save()
        }
    }

    @Test("takes and gives Swift's own types")
    func swiftValues() throws {
        let gadget = Gadget(context: context)
        gadget.tags = ["a", "b"]
        #expect(gadget.tags == ["a", "b"])
        try context.save()
        let other = try stage.separateContext()
        let found = try other.only(Gadget.self, "Gadget")
        #expect(found.tags == ["a", "b"])
        found.setValue(["k": [1, 2]], forKey: "shape")
        #expect(found.value(forKey: "shape") as? [String: [Int]] == ["k": [1, 2]])
        found.tags = nil
        try other.save()
        #expect(try stage.sql("SELECT ZTAGS IS NULL, length(ZSHAPE) > 100 FROM ZGADGET") == "1|1")
        #expect(try reread().value(forKey: "shape") as? [String: [Int]] == ["k": [1, 2]])
    }

    @Test("is stored as the keyed archive that Apple's Foundation reads")
    func archive() throws {
        Gadget(context: context).tags = ["a"]
        try context.save()
        let program = """
            import plistlib, sqlite3, sys
            archive = plistlib.loads(sqlite3.connect(sys.argv[1]).execute('SELECT ZTAGS FROM ZGADGET').fetchone()[0])
            root = archive['$objects'][archive['$top']['root'].data]
            print(archive['$archiver'], archive['$version'], archive['$objects'][root['$class'].data]['$classes'],
                [archive['$objects'][place.data] for place in root['NS.objects']])
            """
        #expect(try Child.run("python3", ["-c", program, stage.url.path]).output == "NSKeyedArchiver 100000 ['NSArray', 'NSObject'] ['a']")
    }

    // What an `@objc(TDMedal) class Medal` is on a Mac: its archives have that name, and so do those of this module.
    @Test("writes and reads objects under the name that Objective-C has for their class, and reads those of aliases")
    func namesOfClasses() throws {
        NSManagedObjectModel.registerClass(named: "TDMedal") { Medal.self }
        NSKeyedUnarchiver.setClass(Medal.self, forClassName: "FormerMedal")
        let gadget = Gadget(context: context)
        gadget.setValue(NSArray(array: [Medal(rank: 1), Medal(rank: 2)]), forKey: "shape")
        try context.save()
        let data = try ObjectArchiver.data(of: [Medal(rank: 1), Medal(rank: 2)])
        let hex = data.map { String(format: "%02X", $0) }.joined()
        #expect(try stage.sql("SELECT hex(ZSHAPE) FROM ZGADGET") == hex)
        #expect(data.range(of: Data("TDMedal".utf8)) != nil && data.range(of: Data("CoreDataTests".utf8)) == nil)
        #expect((try reread().value(forKey: "shape") as? [Medal])?.map(\.rank) == [1, 2])
        for name in ["CoreDataTests.Medal", "FormerMedal"] {
            let archive = try PropertyListSerialization.propertyList(from: data, format: nil)
            var contents = try #require(archive as? [String: Any])
            let objects = try #require(contents["$objects"] as? [Any])
            contents["$objects"] = objects.map { object -> Any in
                guard var entries = object as? [String: Any], entries["$classname"] as? String == "TDMedal" else { return object }
                entries["$classname"] = name
                return entries
            }
            let renamed = try PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0)
            _ = try stage.sql("UPDATE ZGADGET SET ZSHAPE = x'\(renamed.map { String(format: "%02x", $0) }.joined())'")
            #expect((try reread().value(forKey: "shape") as? [Medal])?.map(\.rank) == [1, 2], "\(name)")
        }
    }

    @Test("cannot be saved where its class is inside of another type, which Foundation cannot name in an archive")
    func nestedClass() throws {
        let gadget = Gadget(context: context)
        gadget.setValue(Medal.Ribbon(), forKey: "shape")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(
            error?.code.rawValue == NSManagedObjectValidationError && "\(error?.userInfo ?? [:])".contains("Medal.Ribbon"),
            "\(error?.userInfo ?? [:])"
        )
        gadget.setValue(Medal(rank: 1), forKey: "shape")
        try context.save()
    }

    @Test("gives one object as long as it is not changed, and the one that was set")
    func identity() throws {
        let gadget = Gadget(context: context)
        let shape = Badge(corners: 5, name: "p")
        gadget.setValue(shape, forKey: "shape")
        #expect(gadget.value(forKey: "shape") as AnyObject === shape)
        try context.save()
        gadget.name = "renamed"
        #expect(gadget.value(forKey: "shape") as AnyObject === shape)
        context.refresh(gadget, mergeChanges: false)
        let read = gadget.value(forKey: "shape") as AnyObject
        #expect(read !== shape && read as? Badge == shape)
        #expect(gadget.value(forKey: "shape") as AnyObject === read && gadget.primitiveValue(forKey: "shape") as AnyObject === read)
    }

    @Test("counts as changed by what it stands for; rollback and child contexts follow")
    func changes() throws {
        let gadget = Gadget(context: context)
        gadget.tags = ["a"]
        try context.save()
        gadget.tags = ["a"]
        #expect(!gadget.hasPersistentChangedValues)
        gadget.tags = ["b"]
        #expect(gadget.changedValues()["tags"] as? [String] == ["b"])
        #expect(gadget.committedValues(forKeys: ["tags"])["tags"] as? [String] == ["a"])
        context.rollback()
        #expect(gadget.tags == ["a"])

        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        let other = try #require(try child.existingObject(with: gadget.objectID) as? Gadget)
        #expect(other.tags == ["a"])
        other.tags = ["c"]
        try child.save()
        #expect(gadget.tags == ["c"])
        try context.save()
        #expect(try reread().tags == ["c"])
    }

    @Test("whose value cannot be stored keeps it; the save fails, names it, and succeeds once it is replaced")
    func unstorable() throws {
        struct Opaque {}
        let gadget = Gadget(context: context)
        gadget.tags = ["kept"]
        gadget.setValue(Opaque(), forKey: "shape")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectValidation)
        #expect((error as NSError?)?.userInfo[NSValidationKeyErrorKey] as? String == "shape")
        #expect(error?.localizedDescription.contains("Opaque") == true)
        #expect(gadget.value(forKey: "shape") is Opaque && gadget.isInserted)
        gadget.setValue("plain", forKey: "shape")
        try context.save()
        gadget.setValue([["deep": Opaque()]], forKey: "shape")
        #expect(errorCode { try context.save() } == NSManagedObjectValidationError)
        context.rollback()
        #expect(gadget.value(forKey: "shape") as? String == "plain" && !context.hasChanges)
        #expect(try reread().tags == ["kept"])
    }

    @Test("that is mandatory is asked for, and has the default of its model")
    func mandatory() throws {
        let stage = try Stage {
            [
                Gadget.makeEntity {
                    $0.attributesByName["tags"]?.defaultValue = ["default"]
                    $0.attributesByName["shape"]?.isOptional = false
                }
            ]
        }
        let gadget = Gadget(context: stage.context)
        #expect(gadget.tags == ["default"])
        #expect(errorCode { try stage.context.save() } == NSValidationMissingMandatoryPropertyError)
        gadget.setValue(1, forKey: "shape")
        try stage.context.save()
    }

    @Test("whose data nobody can read is nil, and other changes leave the data alone")
    func unreadable() throws {
        let gadget = Gadget(context: context)
        gadget.setValue(Badge(corners: 1, name: "n"), forKey: "shape")
        gadget.tags = ["a"]
        try context.save()
        let rename = """
            import sqlite3, sys
            store = sqlite3.connect(sys.argv[1])
            archive = store.execute('SELECT ZSHAPE FROM ZGADGET').fetchone()[0].replace(b'.Badge', b'.Egdab')
            store.execute("UPDATE ZGADGET SET ZSHAPE = ?, ZTAGS = x'00FF'", [archive])
            store.commit()
            """
        try Child.run("python3", ["-c", rename, stage.url.path])
        let before = try stage.sql("SELECT hex(ZSHAPE), hex(ZTAGS) FROM ZGADGET")
        let other = try stage.separateContext()
        let found = try other.only(Gadget.self, "Gadget")
        #expect(found.value(forKey: "shape") == nil && found.tags == nil)
        found.name = "changed"
        try other.save()
        #expect(try stage.sql("SELECT hex(ZSHAPE), hex(ZTAGS) FROM ZGADGET") == before)
        found.tags = ["new"]
        try other.save()
        #expect(try reread().tags == ["new"])
    }
}

final class Medal: NSObject, NSSecureCoding {
    let rank: Int

    init(rank: Int) { self.rank = rank }

    static var supportsSecureCoding: Bool { true }
    func encode(with coder: NSCoder) { coder.encode(rank, forKey: "rank") }
    init?(coder: NSCoder) { rank = coder.decodeInteger(forKey: "rank") }

    final class Ribbon: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }
        override init() {}
        func encode(with coder: NSCoder) {}
        init?(coder: NSCoder) {}
    }
}
