import CoreData
import Foundation
import SQLiteDriver
import TestSupport
import Testing

/// Processes that migrate or move a store of some groups, and are hindered.
@Suite("A process that migrates a store", .timeLimit(.minutes(20)))
struct InterruptedMigrationTests {
    private let folder: TemporaryFolder
    private let groups: Int64
    private var random: SplitMix

    /// How often a process is killed: 20 times, or as often as `COREDATA_KILLS` says.
    private static let kills = ProcessInfo.processInfo.environment["COREDATA_KILLS"].flatMap { Int($0) } ?? 20

    init() throws {
        folder = try TemporaryFolder()
        random = SplitMix(state: UInt64.random(in: 0 ... .max))
        let filling = try OtherProcess(program: "StackProgram", ["save", folder.store.path])
        for _ in 0..<300 { _ = filling.line() }
        filling.kill()
        _ = filling.rest()
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        groups = try Self.number(connection, "SELECT COUNT(*) FROM ZGROUP")
        connection.close()
    }

    // * Processes that migrate a store are killed at random moments, one after the other; then four migrate it at the same time.
    // => After each kill there is the old store or the new one, with all rows; all four open it.
    @Test("and is killed leaves the old store or the new one, which several processes then open at once")
    func killed() throws {
        var random = random
        let seed = random.state
        for kill in 0..<Self.kills {
            let copy = folder.file("\(kill).sqlite")
            try FileManager.default.copyItem(at: folder.store, to: copy)
            let process = try OtherProcess(program: "StackProgram", ["migrate", copy.path])
            Self.spin(Int.random(in: 0..<60_000, using: &random))
            process.kill()
            _ = process.rest()
            try checkMigration(copy, "kill \(kill), seed \(seed)")
            try FileManager.default.removeItem(at: copy)
        }
        let processes = try (0..<4).map { _ in try OtherProcess(program: "StackProgram", ["migrate", folder.store.path]) }
        #expect(processes.map { $0.rest().last } == Array(repeating: "migrated", count: 4))
        #expect(processes.map { $0.status() } == [0, 0, 0, 0])
        #expect(try checkMigration(folder.store, "all"))
    }

    // * A process may write files of so many blocks of 512 bytes only, as on a disk that is full.
    // => It says why it has failed; the store is the old one, and is migrated where there is room.
    @Test("and has no room on the disk leaves the old store, and says so", arguments: [16, 72])
    func full(blocks: Int) throws {
        // NB: the program sets its limit itself: what a sanitizer does when it starts needs a file.
        let process = try OtherProcess(program: "StackProgram", ["migrate", folder.store.path, "\(blocks * 512)"])
        let said = process.rest().last
        _ = process.status()
        #expect(said?.hasPrefix("error ") == true, "\(said ?? "nothing")")
        #expect(try !checkMigration(folder.store, "full"))
        #expect(try OtherProcess(program: "StackProgram", ["migrate", folder.store.path]).rest().last == "migrated")
        #expect(try checkMigration(folder.store, "afterwards"))
    }

    // * Processes that copy a store to another place are killed at random moments.
    // => The old store is what it was; at the place there is nothing, something empty, or the whole store. The next process brings it there.
    @Test("to another place and is killed leaves nothing there, or all of it")
    func moving() throws {
        var random = random
        let seed = random.state
        var outcomes: Set<String> = []
        for kill in 0..<Self.kills {
            let place = folder.file("Moved \(kill).sqlite")
            let process = try OtherProcess(program: "StackProgram", ["move", folder.store.path, place.path])
            #expect(process.line() == "open")
            Self.spin(Int.random(in: 0..<12_000, using: &random))
            process.kill()
            _ = process.rest()
            #expect(try !checkMigration(folder.store, "kill \(kill), seed \(seed)"))
            if try !isStore(place) {
                outcomes.insert("nothing")
                #expect(try OtherProcess(program: "StackProgram", ["move", folder.store.path, place.path]).rest().last == "moved")
            } else {
                outcomes.insert("all")
            }
            #expect(try !checkMigration(place, "moved, kill \(kill), seed \(seed)"))
        }
        #expect(!outcomes.isEmpty)
    }

    private func isStore(_ url: URL) throws -> Bool {
        guard FileManager.default.fileExists(atPath: url.path) else { return false }
        let connection = try Connection(path: url.path, mode: .readWrite)
        defer { connection.close() }
        return try !connection.rows("SELECT 1 FROM sqlite_master LIMIT 1").isEmpty
    }

    /// Whether a file is the new version; it is the old one else, and whole in both.
    @discardableResult
    private func checkMigration(_ store: URL, _ comment: Comment) throws -> Bool {
        let connection = try Connection(path: store.path, mode: .readWrite)
        defer { connection.close() }
        let number = { try Self.number(connection, $0) }
        #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]], comment)
        #expect(try number("SELECT COUNT(*) FROM ZGROUP") == groups, comment)
        #expect(try number("SELECT COUNT(*) FROM ZMEMBER WHERE ZGROUP IS NOT NULL") == 5 * groups, comment)
        let isNew = try number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZSUM'") == 1
        #expect(try number("SELECT COUNT(*) FROM sqlite_master WHERE name IN ('ZTOTAL', 'ZALBUM')") == 1, comment)
        if isNew { #expect(try number("SELECT COUNT(*) FROM ZMEMBER WHERE ZNOTE = 'none' AND Z_FOK_GROUP > 0") == 5 * groups, comment) }
        return isNew
    }

    private static func number(_ connection: Connection, _ query: String) throws -> Int64 {
        guard case .integer(let number)? = try connection.rows(query).first?.first else { return -1 }
        return number
    }

    /// Passes some time: the moment is what a kill is tried at, nobody waits for anything.
    private static func spin(_ microseconds: Int) {
        let end = DispatchTime.now() + .microseconds(microseconds)
        while DispatchTime.now() < end {}
    }
}
