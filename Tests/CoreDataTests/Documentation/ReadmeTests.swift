import CoreData
import TestSupport
import Testing

// README.md shows what stands between the two markers, literally.
// snippet: program
final class Song: NSManagedObject {
    private static let titleKey = Attribute<String>("title")
    private static let playsKey = Attribute<Int64>("plays")
    var title: String {
        get { self[Song.titleKey] }
        set { self[Song.titleKey] = newValue }
    }
    var plays: Int64 {
        get { self[Song.playsKey] }
        set { self[Song.playsKey] = newValue }
    }
}

func playlist(at url: URL) throws -> [String] {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    title.isOptional = false
    let plays = NSAttributeDescription()
    plays.name = "plays"
    plays.attributeType = .integer64AttributeType
    let entity = NSEntityDescription()
    entity.name = "Song"
    entity.managedObjectClassName = NSStringFromClass(Song.self)
    entity.properties = [title, plays]
    let model = NSManagedObjectModel()
    model.entities = [entity]

    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
        for (index, name) in ["Blue", "Green", "Red"].enumerated() {
            let song = Song(context: context)
            song.title = name
            song.plays = Int64(index)
        }
        try context.save()
        let request = NSFetchRequest<Song>(entityName: "Song")
        request.predicate = NSPredicate(format: "plays > %d", 0)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        return try context.fetch(request).map(\.title)  // ["Red", "Green"]
    }
}
// end of snippet

@Suite("The README's program")
struct ReadmeTests {
    @Test("is the one that is compiled here")
    func isCompiled() throws {
        let readme = try Self.readme()
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let program = try #require(source.components(separatedBy: "// snippet: program\n").dropFirst().first)
        let snippet = try #require(program.components(separatedBy: "// end of snippet").first)
        #expect(readme.contains("import CoreData\n\n" + snippet))
    }

    @Test("gives what it says")
    func runs() throws {
        let folder = try TemporaryFolder()
        #expect(try playlist(at: folder.store) == ["Red", "Green"])
    }

    @Test("has at most 150 lines around it")
    func length() throws {
        #expect(try Self.readme().split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
    }

    private static func readme() throws -> String {
        try String(contentsOf: Places.package.appendingPathComponent("README.md"), encoding: .utf8)
    }
}
