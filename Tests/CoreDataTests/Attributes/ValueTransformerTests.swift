import Foundation
import Testing

@testable import CoreData

/// Writes a shape as text.
private final class ShapeTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? Badge).map { Data("\($0.corners) \($0.name)".utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        let words = (value as? Data).map { String(decoding: $0, as: UTF8.self).split(separator: " ", maxSplits: 1) } ?? []
        guard words.count == 2, let corners = Int(words[0]) else { return nil }
        return Badge(corners: corners, name: String(words[1]))
    }
}

/// As the articles write it.
private final class ShapesTransformer: NSSecureUnarchiveFromDataTransformer {
    static let name = NSValueTransformerName("ShapesTransformer")
    override class var allowedTopLevelClasses: [AnyClass] { [Badge.self, NSArray.self] }
    static func register() { ValueTransformer.setValueTransformer(ShapesTransformer(), forName: name) }
}

@Suite("A value transformer")
struct ValueTransformerTests {
    private func stage(_ transformer: String?) throws -> Stage {
        try Stage { [Gadget.makeEntity { $0.attributesByName["shape"]?.valueTransformerName = transformer }] }
    }

    @Test("that makes data of values is asked in this direction to set, and in reverse to read")
    func forward() throws {
        let name = NSValueTransformerName("test.forward")
        ValueTransformer.setValueTransformer(ShapeTransformer(), forName: name)
        let stage = try stage(name.rawValue)
        Gadget(context: stage.context).setValue(Badge(corners: 3, name: "eins zwei"), forKey: "shape")
        try stage.context.save()
        #expect(try stage.sql("SELECT CAST(ZSHAPE AS TEXT) FROM ZGADGET") == "3 eins zwei")
        let other = try stage.separateContext()
        let found = try other.only(Gadget.self, "Gadget")
        #expect(found.value(forKey: "shape") as? Badge == Badge(corners: 3, name: "eins zwei"))
        found.setValue("no shape", forKey: "shape")
        #expect(errorCode { try other.save() } == NSManagedObjectValidationError)
    }

    // * A model names Foundation's transformer by its class, as on a Mac, and another one that nobody knows.
    // => The first is found; the error about the second is one sentence.
    @Test("is found by the name of its class, too")
    func byClass() throws {
        let stage = try stage("NSSecureUnarchiveFromDataTransformer")
        Gadget(context: stage.context).setValue(["a"] as NSArray, forKey: "shape")
        try stage.context.save()
        #expect(try stage.separateContext().only(Gadget.self, "Gadget").value(forKey: "shape") as? [String] == ["a"])

        let unknown = try self.stage("test.unknown")
        Gadget(context: unknown.context).setValue(["a"] as NSArray, forKey: "shape")
        let error = #expect(throws: CocoaError.self) { try unknown.context.save() }
        #expect(error?.localizedDescription.hasSuffix("setValueTransformer(_:forName:) first.") == true, "\(error as Any)")
    }

    @Test("that reads archives securely takes the classes that it allows, and no others")
    func secure() throws {
        ShapesTransformer.register()
        let stage = try stage("ShapesTransformer")
        let gadget = Gadget(context: stage.context)
        for value in [Badge(corners: 3, name: "a"), NSArray(array: [Badge(corners: 4, name: "b")])] as [NSObject] {
            gadget.setValue(value, forKey: "shape")
            try stage.context.save()
            #expect(try stage.separateContext().only(Gadget.self, "Gadget").value(forKey: "shape") as? NSObject == value)
        }
        for value in ["text", ["k": 1], [Badge(corners: 4, name: "b"), "text"]] as [Any] {
            gadget.setValue(value, forKey: "shape")
            try stage.context.save()
            #expect(try stage.separateContext().only(Gadget.self, "Gadget").value(forKey: "shape") == nil)
        }
    }

    @Test(
        "of Foundation for secure archives takes its value classes",
        arguments: [nil, "", "NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData"]
    )
    func builtIn(name: String?) throws {
        let stage = try stage(name)
        let gadget = Gadget(context: stage.context)
        gadget.setValue(["a": [1, 2]], forKey: "shape")
        try stage.context.save()
        let found = try stage.separateContext().only(Gadget.self, "Gadget")
        #expect(found.value(forKey: "shape") as? [String: [Int]] == ["a": [1, 2]])
        gadget.setValue(Badge(corners: 1, name: "s"), forKey: "shape")
        try stage.context.save()
        let shape = try stage.separateContext().only(Gadget.self, "Gadget").value(forKey: "shape") as? Badge
        #expect((shape == nil) == (name == "NSSecureUnarchiveFromData"))
    }

    @Test("that nobody has registered is named by the error of the save; once it is, the save succeeds")
    func missing() throws {
        let name = NSValueTransformerName("test.late")
        let stage = try stage(name.rawValue)
        let gadget = Gadget(context: stage.context)
        gadget.setValue(Badge(corners: 3, name: "x"), forKey: "shape")
        let error = #expect(throws: CocoaError.self) { try stage.context.save() }
        #expect(error?.localizedDescription.contains("test.late") == true)
        #expect(error?.localizedDescription.contains("setValueTransformer") == true)
        ValueTransformer.setValueTransformer(ShapeTransformer(), forName: name)
        gadget.setValue(gadget.value(forKey: "shape"), forKey: "shape")
        try stage.context.save()
        #expect(try stage.sql("SELECT CAST(ZSHAPE AS TEXT) FROM ZGADGET") == "3 x")
    }

    @Test("is found by its name, made from its class' name, and forgotten")
    func registry() {
        let name = NSValueTransformerName("test.registry")
        let transformer = ShapesTransformer()
        #expect(ValueTransformer(forName: name) == nil)
        ValueTransformer.setValueTransformer(transformer, forName: name)
        #expect(ValueTransformer(forName: name) === transformer && ShapesTransformer(forName: name) === transformer)
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(ValueTransformer(forName: name) == nil)
        let className = NSValueTransformerName(NSStringFromClass(NSSecureUnarchiveFromDataTransformer.self))
        #expect(ValueTransformer(forName: className) is NSSecureUnarchiveFromDataTransformer)
    }

    @Test("is there for truth and nothing")
    func simple() {
        #expect(ValueTransformer(forName: .negateBooleanTransformerName)?.transformedValue(true) as? Bool == false)
        #expect(ValueTransformer(forName: .isNilTransformerName)?.transformedValue(nil) as? Bool == true)
        #expect(ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue(nil) as? Bool == false)
        let data = ValueTransformer(forName: .secureUnarchiveFromDataTransformerName)?.reverseTransformedValue(["a"])
        #expect(ValueTransformer(forName: .keyedUnarchiveFromDataTransformerName)?.transformedValue(data) as? [String] == ["a"])
    }
}
