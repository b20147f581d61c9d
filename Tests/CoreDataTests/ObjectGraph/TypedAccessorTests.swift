import CoreData
import Foundation
import Testing

/// One class for entities whose rows differ.
private class Shape: NSManagedObject {
    private static let nameKey = Attribute<String?>("name")
    private static let sizeKey = Attribute<Int32>("size")
    var name: String? {
        get { self[Shape.nameKey] }
        set { self[Shape.nameKey] = newValue }
    }
    var size: Int32 {
        get { self[Shape.sizeKey] }
        set { self[Shape.sizeKey] = newValue }
    }
}

@Suite("Typed accessors")
struct TypedAccessorTests {
    private static func entities(extra: Int, sizeType: NSAttributeType = .integer32AttributeType) -> [NSEntityDescription] {
        Shape.register()
        let others = (0..<extra).map { LibraryModel.attribute("a\($0)", .doubleAttributeType, default: Double($0)) }
        let base = LibraryModel.entity(
            "Shape",
            Shape.self,
            others + [LibraryModel.attribute("name", .stringAttributeType), LibraryModel.attribute("size", sizeType)]
        )
        base.subentities = [LibraryModel.entity("Sub", Shape.self, [LibraryModel.attribute("aaa", .stringAttributeType, default: "sub")])]
        return [base] + base.subentities + [
            LibraryModel.entity(
                "Other",
                Shape.self,
                [
                    LibraryModel.attribute("size", sizeType), LibraryModel.attribute("b", .stringAttributeType),
                    LibraryModel.attribute("name", .stringAttributeType),
                ]
            )
        ]
    }

    @Test("never read a wrong place: sub-entities, other entities of the class, and other models in turn")
    func layouts() throws {
        let stages = [
            try Stage { Self.entities(extra: 0) }, try Stage { Self.entities(extra: 9) },
            try Stage { Self.entities(extra: 3, sizeType: .integer64AttributeType) },
        ]
        var shapes: [(Shape, Int32)] = []
        for (index, stage) in stages.enumerated() {
            for (offset, entity) in ["Shape", "Sub", "Other"].enumerated() {
                let object = try #require(NSEntityDescription.insertNewObject(forEntityName: entity, into: stage.context) as? Shape)
                shapes.append((object, Int32(10 * index + offset)))
            }
        }
        for (shape, number) in shapes.shuffled() { (shape.size, shape.name) = (number, "n\(number)") }
        for _ in 0..<3 { for (shape, number) in shapes.shuffled() { #expect(shape.size == number && shape.name == "n\(number)") } }
        for stage in stages { try stage.context.save() }
        for (shape, number) in shapes.shuffled() { #expect(shape.value(forKey: "size") as? Int32 == number && shape.name == "n\(number)") }
        let read = try stages.flatMap { try $0.separateContext().all(Shape.self, "Shape", by: "size") }
        #expect(read.map(\.size) == [0, 1, 10, 11, 20, 21])
        #expect(read.map(\.name) == [0, 1, 10, 11, 20, 21].map { "n\($0)" })
        #expect(read.compactMap { $0.entity.name == "Sub" ? $0.value(forKey: "aaa") as? String : nil } == ["sub", "sub", "sub"])
    }

    @Test("stop with the attribute's name where it is of another type, and do not read it as 0 or empty", arguments: ["size", "shape"])
    func otherType(key: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [key = key as String] in
            let type: NSAttributeType = key == "size" ? .stringAttributeType : .doubleAttributeType
            let stage = try Stage { TypedAccessorTests.entities(extra: 0, sizeType: type) }
            let shape = try #require(NSEntityDescription.insertNewObject(forEntityName: "Shape", into: stage.context) as? Shape)
            // A number is converted, and nil is 0.
            try #require(shape.size == 0)
            shape.setValue(key == "size" ? "large" as Any : 2.0, forKey: "size")
            if key == "shape" { try #require(shape.size == 2) }
            shape.setValue("large", forKey: "name")
            _ = key == "size" ? shape.size : Int32(shape[NSManagedObject.Attribute<Date?>("name")]?.timeIntervalSinceNow ?? 0)
        }
        let attribute = key == "size" ? "Shape.size" : "Shape.name"
        #expect(complaint(result).contains("\(attribute) is a String, and its accessor an Attribute<"))
    }
}
