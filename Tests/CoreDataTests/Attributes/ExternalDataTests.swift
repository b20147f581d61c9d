import Foundation
import Testing

@testable import CoreData

@Suite("Data that a store may keep in files of their own")
struct ExternalDataTests {
    let stage: Stage
    private var context: NSManagedObjectContext { stage.context }

    init() throws {
        stage = try Stage {
            [
                Gadget.makeEntity { entity in
                    let photo = Gadget.attribute("photo", .binaryData)
                    photo.allowsExternalBinaryDataStorage = true
                    entity.properties.append(photo)
                    entity.attributesByName["tags"]?.allowsExternalBinaryDataStorage = true
                }
            ]
        }
    }

    private func gadget(photo: Data?) throws -> Gadget {
        let gadget = Gadget(context: context)
        gadget.setValue(photo, forKey: "photo")
        gadget.tags = ["a"]
        try context.save()
        return gadget
    }

    @Test(
        "have a byte before them in the row, which nobody sees",
        arguments: [Data(), Data([1]), Data([2, 0]), Data(repeating: 7, count: 200_000)]
    )
    func prefix(photo: Data) throws {
        _ = try gadget(photo: photo)
        #expect(
            try stage.sql("SELECT hex(substr(ZPHOTO, 1, 1)), length(ZPHOTO), hex(substr(ZTAGS, 1, 7)) FROM ZGADGET")
                == "01|\(photo.count + 1)|0162706C697374"
        )
        let found = try stage.separateContext().only(Gadget.self, "Gadget")
        #expect(found.value(forKey: "photo") as? Data == photo && found.tags == ["a"])
    }

    @Test("that are nil have none")
    func nothing() throws {
        _ = try gadget(photo: nil)
        #expect(try stage.sql("SELECT ZPHOTO IS NULL FROM ZGADGET") == "1")
        #expect(try stage.separateContext().only(Gadget.self, "Gadget").value(forKey: "photo") == nil)
    }

    @Test("are read from the file that Core Data has put them into")
    func file() throws {
        _ = try gadget(photo: Data([9]))
        let name = UUID().uuidString
        let folder = stage.folder.url.appendingPathComponent(
            ".\(stage.url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let content = Data(repeating: 3, count: 300_000)
        try content.write(to: folder.appendingPathComponent(name))
        _ = try stage.sql("UPDATE ZGADGET SET ZPHOTO = CAST(x'02' || '\(name)' || x'00' AS BLOB)")
        #expect(try stage.separateContext().only(Gadget.self, "Gadget").value(forKey: "photo") as? Data == content)
    }

    @Test(
        "that cannot be read are nil, and stay as they are when something else is saved",
        arguments: ["x'02' || 'C0AF0B66-7C3F-431D-8F2E-A9EB41B2434A' || x'00'", "x'02' || '../../etc/passwd' || x'00'", "x'07'", "x''"]
    )
    func damage(cell: String) throws {
        _ = try gadget(photo: Data([9]))
        _ = try stage.sql("UPDATE ZGADGET SET ZPHOTO = CAST(\(cell) AS BLOB)")
        let before = try stage.sql("SELECT hex(ZPHOTO) FROM ZGADGET")
        let other = try stage.separateContext()
        let found = try other.only(Gadget.self, "Gadget")
        #expect(found.value(forKey: "photo") == nil)
        found.name = "changed"
        try other.save()
        #expect(try stage.sql("SELECT hex(ZPHOTO) FROM ZGADGET") == before)
    }

    @Test("are found by predicates, saved or not")
    func queries() throws {
        _ = try gadget(photo: Data([1, 2]))
        let request = NSFetchRequest<Gadget>(entityName: "Gadget")
        for (format, data, count) in [("photo == %@", Data([1, 2]), 1), ("photo == %@", Data([1, 1, 2]), 0)] {
            request.predicate = NSPredicate(format: format, data as NSData)
            #expect(try stage.separateContext().fetch(request).count == count)
        }
        request.predicate = NSPredicate(format: "photo == nil")
        #expect(try stage.separateContext().fetch(request).isEmpty)
    }
}
