import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import ExampleStores

@Suite("The JSON lines store of the guide")
struct JSONLinesTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("songs.jsonl")
        NSPersistentStoreCoordinator.registerStoreClass(JSONLinesStore.self, forStoreType: JSONLinesStore.storeType)
    }

    private func open() throws -> NSManagedObjectContext {
        let song = NSEntityDescription("Song", attribute("title"), attribute("year", .integer32))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(song))
        try coordinator.addPersistentStore(ofType: JSONLinesStore.storeType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func fetch(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Song"))
    }

    private func titles() throws -> [String?] {
        let context = try open()
        return try fetch(context).map { $0.value(forKey: "title") as? String }
    }

    /// What is said of the first song that cannot be read.
    private func refusal(_ context: NSManagedObjectContext) throws -> String {
        do { for song in try fetch(context) { try song.fireThrowing() } } catch { return error.localizedDescription }
        return ""
    }

    @Test("passes over lines without anything in them, whichever way lines end", arguments: ["\n", "\r\n"])
    func blankLines(_ end: String) throws {
        let lines = ["", "{\"title\":\"One\"}", " ", "\t", "  {\"title\":\"Two\"} ", "", "", "{\"title\":\"Three\",\"more\":[1]}"]
        for last in ["", end, end + end, " "] {
            try Data((lines.joined(separator: end) + last).utf8).write(to: url)
            #expect(try titles() == ["One", "Two", "Three"])
        }
        for nothing in ["", end, " " + end + end] {
            try Data(nothing.utf8).write(to: url)
            #expect(try titles().isEmpty)
        }
    }

    @Test("reads a file that begins with a byte order mark")
    func byteOrderMark() throws {
        for start in ["", "\n"] {
            try (Data([0xef, 0xbb, 0xbf]) + Data((start + "{\"title\":\"One\"}\n{\"title\":\"Two\"}").utf8)).write(to: url)
            #expect(try titles() == ["One", "Two"])
        }
    }

    @Test("names the line that is no object", arguments: ["[1]", "7", "nothing", "{\"title\":", "{\"title\":\"\u{fffd}\"}{}"])
    func wrongLines(_ line: String) throws {
        try Data("{\"title\":\"One\"}\n\n \n\(line)\n{\"title\":\"Two\"}\n".utf8).write(to: url)
        #expect(try refusal(open()).contains("line 4"))
    }

    @Test("reads a line that is longer than what it reads of the file at a time, and one that begins in one part and ends in another")
    func longLines() throws {
        let texts = [("x", 3 << 20), ("y", (1 << 20) - 40), ("z", 1), (" ", 2 << 20)].map { String(repeating: $0, count: $1) }
        try Data(texts.map { "{\"title\":\"\($0)\"}" }.joined(separator: "\n").utf8).write(to: url)
        #expect(try titles() == texts)
    }

    @Test("says what it can no longer read of a file that others have cut off")
    func cutOff() throws {
        let lines = (0..<1000).map { "{\"title\":\"song \($0)\"}" }
        try Data(lines.joined(separator: "\n").utf8).write(to: url)
        let context = try open()
        let songs = try fetch(context)
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: 30)
        #expect(songs[0].value(forKey: "title") as? String == "song 0")
        #expect(try refusal(context).contains("line 2"))
    }
}
