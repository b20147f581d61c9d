import TestSupport
import Testing

@testable import CoreData

@Suite("What was saved of an incremental store")
struct SavedObjectsTests {
    // * An object is saved, in version 5. Then so many others are that the moments, of which there are 2³², go round twice and more.
    // => It is still of that version, whenever the class is asked; and of the next one once the class says that it is another.
    @Test("is in the past however many moments go by")
    func moments() throws {
        let zoo = Zoo()
        let context = Stack(zoo.model).newContext()
        let object = NSEntityDescription.insertNewObject(forEntityName: "Cat", into: context)
        let entity = object.entity
        func update(_ key: Int64) -> ChangeSet.Group {
            var group = ChangeSet.Group(entity: entity, store: 1)
            group.updates = [ChangeSet.Update(row: Row(object.scope.shape.emptyRow), key: key, base: nil, slots: SlotMask())]
            return group
        }
        let saved = SavedObjects()
        var moment: UInt32 = 1
        _ = saved.note(update(1), keys: [], at: moment) { _ in 4 }
        func version(_ own: UInt64) -> Int32 { saved.version(own, of: 1, root: entity.rootEntity.index, readAt: moment &+ 1) }
        for _ in 0..<40 {
            #expect(version(7) == 5)
            moment &+= 1 << 28
            _ = saved.note(update(2), keys: [], at: moment) { _ in 0 }
        }
        #expect(version(8) == 6)
    }
}
