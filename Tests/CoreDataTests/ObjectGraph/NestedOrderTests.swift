import Foundation
import Testing

@testable import CoreData

/// Folders in folders, in an order.
private enum FolderModel {
    static func make() -> NSManagedObjectModel {
        let folder = LibraryModel.entity("Folder", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
        let children = LibraryModel.relate(
            folder,
            "children",
            toMany: true,
            .cascadeDeleteRule,
            folder,
            "parent",
            toMany: false,
            .nullifyDeleteRule
        )
        children.isOrdered = true
        let model = NSManagedObjectModel()
        model.entities = [folder]
        return model
    }
}

@Suite("A member of an ordered relationship")
struct NestedOrderTests {
    // * A folder that was only read, and is in a folder itself, gets one folder after the other.
    // => Each is put behind the last position of the table: the row of the folder that was read says nothing that memory beside it could tell.
    @Test("that gets members itself leaves them the next positions", arguments: StoreKind.allCases)
    func nested(_ kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: FolderModel.make())
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: home.url(), options: nil)
        let context = Library.context(on: coordinator)
        let folders = ["root", "a", "b", "c", "d"].map { name in
            let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
            folder.setValue(name, forKey: "name")
            return folder
        }
        try context.save()
        for (member, owner) in [(1, 0), (2, 1), (3, 1), (4, 1)] {
            let other = Library.context(on: coordinator)
            let (folder, home) = (other.object(with: folders[member].objectID), other.object(with: folders[owner].objectID))
            #expect(home.value(forKey: "name") != nil)
            folder.setValue(home, forKey: "parent")
            try other.save()
        }
        let order = "SELECT group_concat(Z_FOK_PARENT) FROM (SELECT Z_FOK_PARENT FROM ZFOLDER WHERE ZPARENT IS NOT NULL ORDER BY ZNAME)"
        #expect(try home.sql(order) == "2048,3072,4096,5120")
    }
}
