import Foundation
import ModelFormat
import ModelReaders
import TestSupport
import Testing

@testable import CoreData

@Suite("What the fuzzer has found")
struct CorpusTests {
    private static let folder = Places.package.appendingPathComponent("Tests/Fuzz/Corpus")

    // * Every file of the corpus is read; those that can be used are written again, and made into descriptions.
    // => Nothing traps, and of each kind some are good and some are bad.
    @Test("is read, or refused with an error", arguments: ModelReader.Kind.allCases)
    func corpus(_ kind: ModelReader.Kind) throws {
        let reader = try ModelReader(kind)
        let accepted = try Self.files(kind).map(reader.accepts)
        #expect(accepted.contains(true) && accepted.contains(false))
    }

    // * Each model of the corpus gets a store in memory, or an error; an object of each entity is inserted.
    @Test("can be used for a store, or is refused with an error", arguments: [ModelReader.Kind.source, .archive])
    func stores(_ kind: ModelReader.Kind) throws {
        for data in try Self.files(kind) {
            guard let read = try? kind == .source ? Model(xml: data) : Model(archive: data), let model = try? NSManagedObjectModel(read)
            else { continue }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            guard (try? coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)) != nil else {
                continue
            }
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.performAndWait {
                for entity in model.entities where !entity.isAbstract { _ = NSManagedObject(entity: entity, insertInto: context) }
                try? context.save()
            }
        }
    }

    private static func files(_ kind: ModelReader.Kind) throws -> [Data] {
        let folder = folder.appendingPathComponent(kind.rawValue)
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map { try Data(contentsOf: $0) }
    }
}
