import CoreData
import Foundation
import SQLiteDriver
import TestSupport
import Testing

@testable import StackProgram

@Suite("A process that is killed in a batch request", .timeLimit(.minutes(20)))
struct KilledBatchTests {
    /// How often a process is killed: 20 times, or as often as `COREDATA_KILLS` says.
    private static let kills = ProcessInfo.processInfo.environment["COREDATA_KILLS"].flatMap { Int($0) } ?? 20
    private static let size: Int64 = 500

    // * A process inserts, updates, upserts and deletes hundreds of rows by batch requests, and saves objects. It is killed at random moments;
    //   another goes on with the file.
    // => Each time all rows of a request are there or none: no or 500 members, all with one number and version, all of the group or of none.
    //    The history since the kill before leads from the file as it was then to what it is now.
    @Test("has carried the request out, or has done nothing")
    func killed() throws {
        let folder = try TemporaryFolder()
        var random = SystemRandomNumberGenerator()
        var outcomes: Set<String> = []
        for kill in 0..<Self.kills {
            let older = try folder.copyStore()
            let process = try OtherProcess(program: "StackProgram", ["batch", folder.store.path])
            try #require(process.line() != nil, "kill \(kill)")
            let begin = DispatchTime.now()
            try #require(process.line() != nil, "kill \(kill)")
            // The moment is somewhere in a round, however long rounds take on this machine.
            let round = DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds
            let end = DispatchTime.now() + .nanoseconds(Int.random(in: 0..<Int(round), using: &random))
            while DispatchTime.now() < end {}
            process.kill()
            _ = process.rest()
            try outcomes.insert(Self.check(folder.store, "kill \(kill)"))
            let (inspector, model) = (try StoreInspector(url: folder.store), BatchWork.model())
            let untold = kill > 0 ? try inspector.problems(since: StoreInspector(url: older), with: model) : []
            #expect(try inspector.problems(with: model) + untold == [], "kill \(kill)")
            try Self.forgetHistory(of: folder.store)
        }
        #expect(outcomes.count > 1)
    }

    /// What was checked goes, but for the last transaction, behind which the next check begins: a kill takes as long as the one before.
    private static func forgetHistory(of store: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BatchWork.model())
        let options = [NSPersistentHistoryTrackingKey: true]
        let opened = try coordinator.addPersistentStore(type: .sqlite, at: store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        }
        try coordinator.remove(opened)
    }

    /// What there is.
    private static func check(_ store: URL, _ comment: Comment) throws -> String {
        let connection = try Connection(path: store.path, mode: .readWrite)
        defer { connection.close() }
        let number = { (query: String) -> Int64 in
            guard case .integer(let number)? = try connection.rows(query).first?.first else { return -1 }
            return number
        }
        #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]], comment)
        let members = try number("SELECT COUNT(*) FROM ZMEMBER")
        #expect(members == 0 || members == size, comment)
        #expect(try number("SELECT COUNT(DISTINCT ifnull(ZNUMBER, -1)) FROM ZMEMBER") == (members == 0 ? 0 : 1), comment)
        #expect(try number("SELECT COUNT(DISTINCT Z_OPT) FROM ZMEMBER") == (members == 0 ? 0 : 1), comment)
        let groups = try number("SELECT COUNT(*) FROM ZGROUP")
        #expect(groups <= 1, comment)
        #expect(try number("SELECT COUNT(*) FROM ZMEMBER WHERE ZGROUP IS NOT NULL") == (groups == 1 ? members : 0), comment)
        // The group has had one change: the members that it has got.
        if groups == 1 { #expect(try number("SELECT Z_OPT FROM ZGROUP") == (members == 0 ? 1 : 2), comment) }
        #expect(
            try number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Member'") >= number("SELECT ifnull(MAX(Z_PK), 0) FROM ZMEMBER"),
            comment
        )
        return try "\(groups) \(members) \(number("SELECT MAX(ZNUMBER) FROM ZMEMBER")) \(totals(number, comment))"
    }

    /// How far upserts and saves of totals have come: those of the latest round are all there, with those of the rounds before that it leaves.
    private static func totals(_ number: (String) throws -> Int64, _ comment: Comment) throws -> Int64 {
        let round = try number("SELECT ifnull(MAX(ZROUND), 0) FROM ZTOTAL")
        let expected: [[Int64]] = [[0, 0, 0], [size, 0, 0], [size / 2, size, 0], [size / 2, size, Int64(BatchWork.objects)]]
        let counts = try (1...3).map { try number("SELECT COUNT(*) FROM ZTOTAL WHERE ZROUND = \($0)") }
        #expect(counts == expected[Int(round)], comment)
        #expect(try number("SELECT COUNT(*) FROM ZTOTAL WHERE Z_OPT = 2") == (round > 1 ? size / 2 : 0), comment)
        return round
    }
}
