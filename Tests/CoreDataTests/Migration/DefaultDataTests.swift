import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Data that become mandatory")
struct DefaultDataTests {
    private let home: StoreHome

    init() throws { home = try StoreHome(.file) }

    private func model(isMandatory: Bool, isExternal: Bool) -> NSManagedObjectModel {
        let data = attribute("data", .binaryData)
        data.allowsExternalBinaryDataStorage = isExternal
        if isMandatory { (data.isOptional, data.defaultValue) = (false, Data([7, 8, 9])) }
        let photo = NSEntityDescription("Photo", attribute("n"))
        photo.properties.append(data)
        return NSManagedObjectModel(photo)
    }

    // * Data become mandatory, and may be in files of their own from now on, or no longer.
    // => Who had none has the default; who had some has these.
    @Test("have their default where there were none, also where their form changes", arguments: [true, false], [true, false])
    func form(wasExternal: Bool, isExternal: Bool) throws {
        let stack = try Stack(home.url(), model(isMandatory: false, isExternal: wasExternal))
        let context = stack.newContext()
        for (name, data) in [("large", Data(repeating: 1, count: 300_000)), ("none", nil), ("small", Data([1]))] {
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
            photo.setValue(name, forKey: "n")
            photo.setValue(data, forKey: "data")
        }
        try context.save()
        try stack.close()
        let migrated = try Stack(home.url(), model(isMandatory: true, isExternal: isExternal), options: migrating)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
        request.sortDescriptors = [NSSortDescriptor(key: "n", ascending: true)]
        let found = try migrated.newContext().fetch(request).map { $0.value(forKey: "data") as? Data }
        #expect(found == [Data(repeating: 1, count: 300_000), Data([7, 8, 9]), Data([1])])
        try migrated.close()
    }

    // * A transformable attribute is new and mandatory; its default is a dictionary, for which a source of a model has no form.
    // => The objects that are there have it.
    @Test("and that stand for a dictionary have it as their default")
    func dictionary() throws {
        let stack = try Stack(home.url(), NSManagedObjectModel(NSEntityDescription("Photo", attribute("n"))))
        let context = stack.newContext()
        NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
        try context.save()
        try stack.close()
        let (settings, photo) = (attribute("settings", .transformable), NSEntityDescription("Photo", attribute("n")))
        (settings.isOptional, settings.defaultValue) = (false, ["iso": 100])
        photo.properties.append(settings)
        let migrated = try Stack(home.url(), NSManagedObjectModel(photo), options: migrating)
        let found = try migrated.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo"))
        #expect(found.map { $0.value(forKey: "settings") as? [String: Int] } == [["iso": 100]])
        try migrated.close()
    }
}
