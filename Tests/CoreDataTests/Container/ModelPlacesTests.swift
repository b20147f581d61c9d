import Foundation
import Testing

@testable import CoreData

@Suite("The models of a bundle")
struct ModelPlacesTests {
    private static let (person, dog) = (BundleFolder.entity("Person", "name"), BundleFolder.entity("Dog", "breed"))

    @Test("are merged into one, whatever their form, and in the bundles inside it too")
    func merging() throws {
        let folder = try BundleFolder()
        try folder.add(source: "People.xcdatamodeld", Self.person)
        try folder.add(compiled: "Dogs.momd", ["V1": Self.dog], current: "V1")
        try folder.add(source: "Inner.bundle/Cats.xcdatamodel", BundleFolder.entity("Cat"))
        try folder.add(source: "Package_Inner.resources/Grüße 語.xcdatamodel", BundleFolder.entity("Gruß"))
        let model = try #require(NSManagedObjectModel.mergedModel(from: [folder.bundle]))
        #expect(Set(model.entities.map(\.name)) == ["Person", "Dog", "Cat", "Gruß"])
    }

    // * Two models have the same base entity, and each a subentity of it.
    // => The merged one has both below one base, with what they inherit and the hashes that they had.
    @Test("that share a base entity have all its subentities together")
    func sharedBase() throws {
        let folder = try BundleFolder()
        let base = #"<entity name="Base" isAbstract="YES"><attribute name="id" optional="YES" attributeType="String"/></entity>"#
        for name in ["Dog", "Cat"] {
            try folder.add(source: "\(name).xcdatamodel", base + #"<entity name="\#(name)" parentEntity="Base"/>"#)
        }
        let model = try #require(NSManagedObjectModel.mergedModel(from: [folder.bundle]))
        #expect(model.entitiesByName["Base"]?.subentitiesByName.keys.sorted() == ["Cat", "Dog"])
        for name in ["Dog", "Cat"] {
            #expect(model.entitiesByName[name]?.attributesByName.keys.sorted() == ["id"])
            let alone = try NSManagedObjectModel(named: name, in: folder.bundle)
            #expect(model.entityVersionHashesByName[name] == alone.entityVersionHashesByName[name])
        }
    }

    @Test("are empty where there are none, and where there is no bundle")
    func none() throws {
        #expect(try NSManagedObjectModel.mergedModel(from: [BundleFolder().bundle])?.entities == [])
        #expect(NSManagedObjectModel.mergedModel(from: [])?.entities == [])
    }

    // * A bundle has a compiled model, and the source of a newer one with the same name.
    // => The compiled one is taken, by name and when merged.
    @Test("are compiled ones rather than sources of the same name")
    func compiledFirst() throws {
        let folder = try BundleFolder()
        try folder.add(compiled: "Pets.momd", ["V1": Self.dog], current: "V1")
        try folder.add(source: "Pets.xcdatamodeld", Self.person)
        #expect(try NSManagedObjectModel(named: "Pets", in: folder.bundle).entities.map(\.name) == ["Dog"])
        #expect(try NSManagedObjectModel.mergedModel(from: [folder.bundle])?.entities.map(\.name) == ["Dog"])
    }

    @Test("are the current versions, where there are several")
    func currentVersion() throws {
        let folder = try BundleFolder()
        try folder.add(compiled: "Pets.momd", ["V1": Self.dog, "V2": Self.dog + Self.person], current: "V1")
        #expect(try NSManagedObjectModel.mergedModel(from: [folder.bundle])?.entities.map(\.name) == ["Dog"])
        #expect(try NSManagedObjectModel(named: "Pets", in: folder.bundle).entities.map(\.name) == ["Dog"])
    }

    @Test("cannot be merged where one is damaged, or two disagree: there is no model then, and nothing stops")
    func unusable() throws {
        let damaged = try BundleFolder()
        try damaged.add(source: "People.xcdatamodeld", Self.person)
        try damaged.add(file: "Broken.mom", "bplist00 not really")
        #expect(try NSManagedObjectModel.mergedModel(from: [damaged.bundle]) == nil)
        let divided = try BundleFolder()
        try divided.add(source: "A.xcdatamodel", Self.person)
        try divided.add(source: "B.xcdatamodel", BundleFolder.entity("Person", "name", "age"))
        #expect(try NSManagedObjectModel.mergedModel(from: [divided.bundle]) == nil)
    }

    @Test("are found by name, in either form of Unicode")
    func unicodeName() throws {
        let folder = try BundleFolder()
        try folder.add(source: "Mode\u{301}le.xcdatamodeld", Self.person)
        #expect(try NSManagedObjectModel(named: "Mod\u{e9}le", in: folder.bundle).entities.count == 1)
    }

    @Test("that are not there are an error that says where they were looked for")
    func missing() throws {
        let folder = try BundleFolder()
        let error = #expect(throws: CocoaError.self) { try NSManagedObjectModel(named: "Nothing", in: folder.bundle) }
        #expect(error?.code == .fileReadNoSuchFile)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("\"Nothing\"") && text.contains(folder.url.lastPathComponent), "\(text)")
        try folder.add(file: "Nothing.mom", "no model")
        let damage = #expect(throws: CocoaError.self) { try NSManagedObjectModel(named: "Nothing", in: folder.bundle) }
        #expect(damage?.code == .fileReadCorruptFile)
    }

    // * A store was written with the first version; the second is the current one.
    // => Its metadata lead to the first.
    @Test("are found in any version by the metadata of a store")
    func forStoreMetadata() throws {
        let folder = try BundleFolder()
        let file = try folder.add(compiled: "Pets.momd", ["V1": Self.dog, "V2": Self.dog + Self.person], current: "V2")
        try folder.add(file: "Broken.mom", "no model")
        let old = try NSManagedObjectModel(reading: file.appendingPathComponent("V1.mom"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let metadata = coordinator.metadata(for: store)
        let found = try #require(NSManagedObjectModel.mergedModel(from: [folder.bundle], forStoreMetadata: metadata))
        #expect(found.entityVersionHashesByName == old.entityVersionHashesByName)
        #expect(NSManagedObjectModel.mergedModel(from: [], forStoreMetadata: metadata) == nil)
    }

    @Test("beside the executable are those of the main bundle")
    func besideExecutable() throws {
        let name = "Beside \(UUID())"
        let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent().appendingPathComponent("\(name).resources")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let contents = folder.appendingPathComponent("\(name).xcdatamodel/contents")
        try FileManager.default.createDirectory(at: contents.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("<model>\(Self.person)</model>".utf8).write(to: contents)
        #expect(try NSManagedObjectModel(named: name).entities.map(\.name) == ["Person"])
    }
}

@Suite("A reference to a model")
struct ModelReferenceTests {
    private static let (dog, person) = (BundleFolder.entity("Dog", "breed"), BundleFolder.entity("Person", "name"))

    @Test("leads to the version with its checksum: at hand, in a file, by name, by hashes")
    func resolving() throws {
        let folder = try BundleFolder()
        let file = try folder.add(compiled: "Pets.momd", ["V1": Self.dog, "V2": Self.dog + Self.person], current: "V2")
        let old = try NSManagedObjectModel(reading: file.appendingPathComponent("V1.mom"))
        let checksum = old.versionChecksum
        let references = [
            NSManagedObjectModelReference(model: old, versionChecksum: checksum),
            NSManagedObjectModelReference(fileURL: file, versionChecksum: checksum),
            NSManagedObjectModelReference(fileURL: file.appendingPathComponent("V1.mom"), versionChecksum: checksum),
            NSManagedObjectModelReference(name: "Pets", in: try folder.bundle, versionChecksum: checksum),
            NSManagedObjectModelReference(name: "V1", in: try folder.bundle, versionChecksum: checksum),
            NSManagedObjectModelReference(
                entityVersionHashes: old.entityVersionHashesByName,
                in: try folder.bundle,
                versionChecksum: checksum
            ),
        ]
        for reference in references {
            #expect(reference.versionChecksum == checksum && reference.resolvedModel.versionChecksum == checksum)
            #expect(try reference.resolve() === reference.resolvedModel)
        }
        #expect(references[0].resolvedModel === old)
    }

    @Test("that leads nowhere is an error 134504, with its cause")
    func missing() throws {
        let folder = try BundleFolder()
        let model = NSManagedObjectModel(NSEntityDescription("A"))
        let file = folder.url.appendingPathComponent("Nothing.mom")
        for reference in [
            NSManagedObjectModelReference(model: model, versionChecksum: "another"),
            NSManagedObjectModelReference(fileURL: file, versionChecksum: "x"),
            NSManagedObjectModelReference(name: "Nothing", in: try folder.bundle, versionChecksum: "x"),
            NSManagedObjectModelReference(entityVersionHashes: ["A": 1], in: try folder.bundle, versionChecksum: "x"),
        ] {
            let error = #expect(throws: CocoaError.self) { try reference.resolve() }
            #expect(error?.code.rawValue == NSManagedObjectModelReferenceNotFoundError)
        }
        let error = #expect(throws: CocoaError.self) {
            try NSManagedObjectModelReference(fileURL: file, versionChecksum: "x").resolve()
        }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .fileReadNoSuchFile)
    }
}
