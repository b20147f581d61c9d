import CoreData
import TestSupport
import Testing

// docs/guides/ModelsInCode.md shows what stands between the two markers, literally.
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

@Suite("The README and the program of a model in code")
struct ReadmeTests {
    @Test("show the program that is compiled here")
    func isCompiled() throws {
        let guide = try Self.text("docs/guides/ModelsInCode.md")
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let program = try #require(source.components(separatedBy: "// snippet: program\n").dropFirst().first)
        let snippet = try #require(program.components(separatedBy: "// end of snippet").first)
        #expect(guide.contains("```swift\n" + snippet + "```"))
    }

    @Test("give what it says")
    func runs() throws {
        let folder = try TemporaryFolder()
        #expect(try playlist(at: folder.store) == ["Red", "Green"])
    }

    @Test("have at most 150 lines")
    func length() throws {
        #expect(try Self.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
    }

    // * Every Swift in the README is in a guide; the tests of the guides compile what those show.
    @Test("show no Swift but that of the guides")
    func snippets() throws {
        let folder = Places.package.appendingPathComponent("docs/guides")
        let guides = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { try String(contentsOf: $0, encoding: .utf8) }
        let shown = try Self.text("README.md").components(separatedBy: "\n```").enumerated()
            .filter { $0.offset % 2 == 1 && ($0.element.hasPrefix("swift\n") || $0.element.hasPrefix("xml\n")) }
            .map { $0.element.drop { $0 != "\n" }.trimmingPrefix("\nimport CoreDataStack\n") }
        #expect(shown.count == 3)
        for snippet in shown { #expect(guides.contains { $0.contains(snippet) }, "\(snippet)") }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Places.package.appendingPathComponent(path), encoding: .utf8)
    }
}
