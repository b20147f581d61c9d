import CoreData
import Foundation
import Testing

/// Makes something of its values whenever it is fetched.
private final class Counted: NSManagedObject {
    private static let nameKey = Attribute<String?>("name")
    private static let countKey = Attribute<Int64>("count")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var count: Int64 {
        get { self[Self.countKey] }
        set { self[Self.countKey] = newValue }
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        count += 100
    }
}

@Suite("What an object makes of its values when it is fetched")
struct AwakeningTests {
    private func model() -> NSManagedObjectModel {
        Counted.register()
        let model = NSManagedObjectModel()
        model.entities = [
            LibraryModel.entity(
                "Counted",
                Counted.self,
                [LibraryModel.attribute("name", .stringAttributeType), LibraryModel.attribute("count", .integer64AttributeType)]
            )
        ]
        return model
    }

    // * Two objects are saved, changed and saved. They are fetched by another coordinator, and one of them is changed and saved once more.
    // => Each save writes what its context has of what it changes; what the store makes objects of, to write them, makes nothing of them.
    @Test("is saved with what the program changes, and with nothing else", arguments: ContractKind.allCases)
    func saving(_ kind: ContractKind) throws {
        let home = try ContractHome(kind, model: model())
        let writer = try home.open()
        let made = ["a", "b"].map { name in
            let object = Counted(context: writer)
            (object.name, object.count) = (name, 1)
            return object
        }
        try writer.save()
        for object in made { object.count = 2 }
        try writer.save()
        #expect(made.map(\.count) == [2, 2])
        let editor = try home.reopened(writer)
        let found = try editor.all(Counted.self, sortedBy: "name")
        #expect(found.map(\.count) == [102, 102])
        found[0].name = "c"
        try editor.save()
        let reader = try home.reopened(editor)
        #expect(try reader.all(Counted.self, sortedBy: "name").map(\.count) == [102, 202])
    }
}
