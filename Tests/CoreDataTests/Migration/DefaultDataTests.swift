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
}
