import CoreData
import CoreDataStack
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@Suite("A process that is killed", .timeLimit(.minutes(20)))
struct KilledProcessTests {
    private static let kills = 200

    // * A process saves group after group through a stack, and says which are done. It is killed; another goes on with the file.
    // => Every group that was said to be done is in the file, with its five members and counted. None is there by halves.
    @Test("while it saves through a stack has saved what was reported as done, and nothing by halves")
    func saving() throws {
        let folder = try TemporaryFolder()
        var random = SystemRandomNumberGenerator()
        var done = -1
        for kill in 0..<Self.kills {
            let process = try OtherProcess(program: "StackProgram", ["save", folder.store.path])
            let lines = Int.random(in: 0...4, using: &random)
            let said = (0..<lines).map { _ in process.line() }
            #expect(!said.contains(nil), "kill \(kill): the program ended by itself")
            Self.spin(Int.random(in: 0..<8000, using: &random))
            process.kill()
            // A sanitizer's helpers may have something to say as well when they lose their process.
            done = (said.compactMap { $0 } + process.rest()).compactMap { Int($0) }.last ?? done
            _ = process.status()
            try Self.check(folder.store, has: done, "kill \(kill)")
        }
        #expect(done > Self.kills)
    }

    // * A process fills a store and resets it. It is killed after the first, second, … statement of the reset.
    // => The file has all of the old rows or none, and a stack on it is usable.
    @Test("at any statement of a reset leaves all of the old rows, or an empty store, which a stack can use")
    func resetting() async throws {
        var statements = 0
        var outcomes: Set<Int64> = []
        while true {
            let folder = try TemporaryFolder()
            let process = try OtherProcess(program: "StackProgram", ["reset", folder.store.path], environment: ["COREDATA_SQLDEBUG": "1"])
            while let line = process.line(), line != "full" {}
            statements += 1
            var isDone = false
            for _ in 0..<statements where !isDone { isDone = process.line() == "empty" }
            process.kill()
            _ = process.rest()
            if FileManager.default.fileExists(atPath: folder.store.path) { try outcomes.insert(Self.rows(folder.store)) }
            try await checkIsUsable(folder.store, "statement \(statements)")
            if isDone { break }
            try #require(statements < 200)
        }
        #expect(statements > 10)
        #expect(outcomes == [0, 7])
    }

    @Test("again and again while it resets leaves a file that a stack can use", arguments: 0..<3)
    func resettingAgain(_: Int) async throws {
        let folder = try TemporaryFolder()
        var random = SystemRandomNumberGenerator()
        for kill in 0..<15 {
            let process = try OtherProcess(program: "StackProgram", ["reset", folder.store.path])
            for _ in 0..<Int.random(in: 0...5, using: &random) { try #require(process.line() != nil, "kill \(kill)") }
            Self.spin(Int.random(in: 0..<4000, using: &random))
            process.kill()
            _ = process.rest()
            if FileManager.default.fileExists(atPath: folder.store.path) {
                let rows = try Self.rows(folder.store)
                #expect(rows == 0 || rows == 7, "kill \(kill)")
            }
        }
        try await checkIsUsable(folder.store, "after all")
    }
}

extension KilledProcessTests {
    /// Passes some time: the moment is what a kill is tried at, nobody waits for anything.
    private static func spin(_ microseconds: Int) {
        let end = DispatchTime.now() + .microseconds(microseconds)
        while DispatchTime.now() < end {}
    }

    /// Whether there are just the groups up to that one, or some that were not reported yet, all of them whole.
    private static func check(_ store: URL, has last: Int, _ comment: Comment) throws {
        guard last >= 0 || FileManager.default.fileExists(atPath: store.path) else { return }
        let connection = try Connection(path: store.path, mode: .readWrite)
        #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]], comment)
        // The program may have been killed before it had made the tables.
        guard try last >= 0 || !connection.rows("SELECT 1 FROM sqlite_master WHERE name = 'ZTOTAL'").isEmpty else { return }
        let count = try number(connection, "SELECT COUNT(*) FROM ZGROUP")
        #expect(count > last, comment)
        #expect(try number(connection, "SELECT COUNT(*) FROM ZGROUP WHERE ZNUMBER < \(count)") == count, comment)
        #expect(try number(connection, "SELECT COUNT(DISTINCT ZNUMBER) FROM ZGROUP") == count, comment)
        #expect(try number(connection, "SELECT COALESCE(SUM(ZNUMBER), 0) FROM ZTOTAL") == count, comment)
        #expect(try number(connection, "SELECT COUNT(*) FROM ZMEMBER") == 5 * count, comment)
        let whole = "SELECT COUNT(*) FROM (SELECT ZGROUP FROM ZMEMBER GROUP BY ZGROUP HAVING COUNT(DISTINCT ZNUMBER) = 5)"
        #expect(try number(connection, whole) == count, comment)
    }

    private static func number(_ connection: Connection, _ query: String) throws -> Int64 {
        guard case .integer(let number)? = try connection.rows(query).first?.first else { return -1 }
        return number
    }

    /// How many objects are in a store of a sound file.
    private static func rows(_ store: URL) throws -> Int64 {
        let connection = try Connection(path: store.path, mode: .readWrite)
        #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]])
        guard try !connection.rows("SELECT 1 FROM sqlite_master WHERE name = 'ZTOTAL'").isEmpty else { return 0 }
        return try ["ZGROUP", "ZMEMBER", "ZTOTAL"].map { try number(connection, "SELECT COUNT(*) FROM \($0)") }.reduce(0, +)
    }

    /// A stack can be made on the file; a reset that was begun is finished by that, and what is saved then is there.
    private func checkIsUsable(_ store: URL, _ comment: Comment) async throws {
        let wasBegun = FileManager.default.fileExists(atPath: store.path + ".reset")
        for round in 0..<2 {
            let process = try OtherProcess(program: "StackProgram", ["save", store.path])
            let first = try #require(process.line().flatMap { Int($0) }, comment)
            if wasBegun, round == 0 { #expect(first == 0, comment) }
            process.kill()
            let last = process.rest().last.flatMap { Int($0) } ?? first
            _ = process.status()
            try Self.check(store, has: last, comment)
        }
        #expect(!FileManager.default.fileExists(atPath: store.path + ".reset"), comment)
    }
}
