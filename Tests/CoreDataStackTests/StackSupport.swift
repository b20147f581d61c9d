import CoreDataStack
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// A note with a mandatory text and an optional number, in a folder with other notes.
enum NoteModel {
    static func make(uniqueTexts: Bool = false, ordersNotes: Bool = false) -> NSManagedObjectModel {
        let (note, folder) = (NSEntityDescription(), NSEntityDescription())
        (note.name, note.managedObjectClassName) = ("Note", NSStringFromClass(Note.self))
        (folder.name, folder.managedObjectClassName) = ("Folder", NSStringFromClass(Folder.self))
        note.properties = [attribute("text", .stringAttributeType, isOptional: false), attribute("number", .integer64AttributeType)]
        folder.properties = [attribute("name", .stringAttributeType)]
        let (notes, home) = (NSRelationshipDescription(), NSRelationshipDescription())
        (notes.name, notes.destinationEntity, notes.inverseRelationship, notes.deleteRule) = ("notes", note, home, .cascadeDeleteRule)
        (home.name, home.destinationEntity, home.inverseRelationship, home.maxCount) = ("folder", folder, notes, 1)
        notes.isOrdered = ordersNotes
        folder.properties.append(notes)
        note.properties.append(home)
        if uniqueTexts { note.uniquenessConstraints = [["text"]] }
        let model = NSManagedObjectModel()
        model.entities = [note, folder]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool = true) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, isOptional)
        return attribute
    }
}

class Note: NSManagedObject {
    private static let textKey = Attribute<String?>("text")
    private static let numberKey = Attribute<Int64>("number")
    private static let folderKey = ToOne<Folder>("folder")
    var text: String? {
        get { self[Self.textKey] }
        set { self[Self.textKey] = newValue }
    }
    var number: Int64 {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }
    var folder: Folder? {
        get { self[Self.folderKey] }
        set { self[Self.folderKey] = newValue }
    }
}

final class Folder: NSManagedObject {
    private static let nameKey = Attribute<String?>("name")
    private static let notesKey = ToMany<Note>("notes")
    private static let orderedNotesKey = OrderedToMany<Note>("notes")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var notes: Set<Note> {
        get { self[Self.notesKey] }
        set { self[Self.notesKey] = newValue }
    }
    /// The same in a model that orders them.
    var orderedNotes: [Note] {
        get { self[Self.orderedNotesKey] }
        set { self[Self.orderedNotesKey] = newValue }
    }
}

enum StackKind: CaseIterable, Sendable { case file, memory }

/// A stack in a place of its own, and readers that see nothing but its store.
final class Bench: Sendable {
    let folder: TemporaryFolder
    let url: URL
    let stack: CoreDataStack

    /// A second stack on the file of another.
    init(opening maker: Bench) async throws {
        (folder, url) = (maker.folder, maker.url)
        stack = try await CoreDataStack.constructSQLiteStack(model: maker.stack.managedObjectModel, at: url)
    }

    init(
        _ kind: StackKind,
        model: NSManagedObjectModel = NoteModel.make(),
        options: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
    ) async throws {
        folder = try TemporaryFolder()
        url = folder.file("a b/ü/Store.sqlite")
        switch kind {
        case .file: stack = try await CoreDataStack.constructSQLiteStack(model: model, at: url, persistentStoreOptions: options)
        case .memory: stack = try CoreDataStack.constructInMemoryStack(model: model)
        }
    }

    var root: NSManagedObjectContext { stack.privateQueueContext }
    var main: NSManagedObjectContext { stack.mainQueueContext }

    /// What a second coordinator finds in the store: texts and numbers of the notes.
    func stored() throws -> [String: Int64] {
        // Who opens a store for writing waits for those who write.
        let context = try separateContext(options: [NSReadOnlyPersistentStoreOption: true])
        return try context.performAndWait { try context.texts() }
    }

    /// A context on a coordinator of its own, as another process would have: it sees nothing but the store.
    func separateContext(options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        let store = try #require(root.persistentStoreCoordinator?.persistentStores.first)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.managedObjectModel)
        try coordinator.addPersistentStore(ofType: store.type, configurationName: nil, at: store.url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Waits until what was saved before has gone up as far as it can: the queues are first come, first served.
    func settle() async {
        await main.perform(schedule: .enqueued) {}
        await root.perform(schedule: .enqueued) {}
    }

    /// Waits until a context has saved once more than it had when `body` began.
    func saving(of context: NSManagedObjectContext, _ body: () async throws -> Void) async throws {
        let (saves, continuation) = AsyncStream<Void>.makeStream()
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) { _ in
            continuation.yield()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await body()
        for await _ in saves { break }
    }
}

extension NSManagedObjectContext {
    /// Inserts a note; on the queue.
    @discardableResult func insertNote(_ text: String?, _ number: Int64 = 0) -> Note {
        let note = Note(context: self)
        (note.text, note.number) = (text, number)
        return note
    }

    func texts() throws -> [String: Int64] {
        Dictionary(try fetch(NSFetchRequest<Note>()).map { ($0.text ?? "", $0.number) }, uniquingKeysWith: { $1 })
    }

    /// What a fetch finds here; from anywhere.
    func fetchedTexts() async throws -> [String: Int64] { try await perform { try self.texts() } }

    func note(_ text: String) throws -> Note? {
        let request = NSFetchRequest<Note>()
        request.predicate = NSPredicate(format: "text == %@", text)
        return try fetch(request).first
    }
}
