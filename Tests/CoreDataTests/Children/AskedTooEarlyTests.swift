import CoreData
import Testing

/// A program hands an ID on before the object is saved, and the other context uses it at once.
@Suite("An object that a context was asked for before it was saved")
struct AskedTooEarlyTests {
    private let layers: Layers
    private let tag: Tag

    init() throws {
        layers = try Layers(Library(.file))
        tag = Tag(context: layers.worker)
        tag.label = "t"
    }

    // * The values of the fault are read, and it counts as deleted; then the object is saved.
    // => Asked for again, it is there, and nothing of it is to be saved.
    @Test("is found once it is in the context above, and in the file", arguments: [false, true])
    func found(isPermanent: Bool) throws {
        if isPermanent { try layers.worker.obtainPermanentIDs(for: [tag]) }
        let (sibling, beside) = (layers.newWorker(), layers.library.newContext())
        let id = tag.objectID
        let faults = try [sibling, beside].map { try #require($0.object(with: id) as? Tag) }
        for fault in faults { #expect(fault.label == nil && fault.isDeleted) }
        #expect(throws: CocoaError.self) { try sibling.existingObject(with: id) }
        try layers.worker.save()
        #expect(try sibling.existingObject(with: id) === faults[0] && faults[0].label == "t" && !sibling.hasChanges)
        try layers.main.save()
        try layers.root.save()
        #expect(try beside.existingObject(with: id) === faults[1] && faults[1].label == "t" && !beside.hasChanges)
        #expect(try beside.all(Tag.self) == [faults[1]] && sibling.all(Tag.self) == [faults[0]])
    }

    // * As above, and nobody asks for it; the context fetches, beside few or many unsaved objects.
    // => It is among the results, and counted.
    @Test("is fetched once it is in the file", arguments: [0, 40], [0, 1])
    func fetched(unsaved: Int, batchSize: Int) throws {
        try layers.worker.obtainPermanentIDs(for: [tag])
        let beside = layers.library.newContext()
        let fault = try #require(beside.object(with: tag.objectID) as? Tag)
        #expect(fault.label == nil && fault.isDeleted)
        for _ in 0..<unsaved { Tag(context: beside).label = "other" }
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.predicate = NSPredicate(format: "label == 't'")
        request.fetchBatchSize = batchSize
        #expect(try beside.fetch(request) == [] && beside.count(for: request) == 0)
        try layers.saveAll()
        #expect(try beside.count(for: request) == 1)
        #expect(try beside.fetch(request) == [fault])
        #expect(fault.label == "t" && beside.deletedObjects.isEmpty)
        try beside.save()
        #expect(try layers.library.sql("SELECT COUNT(*) FROM ZTAG WHERE ZLABEL = 't'") == "1")
    }
}
