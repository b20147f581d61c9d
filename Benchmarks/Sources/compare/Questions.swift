import CBaseline
import CoreData
import Foundation

/// What is asked of 500,000 songs: a request, and the SQL that somebody would write by hand.
enum SongQuestion {
    case grouped, sortedLimit, containsFolded

    var sql: String {
        switch self {
        case .grouped: "SELECT ZARTIST, COUNT(*), SUM(ZPLAYCOUNT) FROM ZSONG GROUP BY ZARTIST"
        case .sortedLimit: "SELECT ZTITLE, ZPLAYCOUNT, ZDURATION FROM ZSONG ORDER BY ZDURATION LIMIT 100"
        case .containsFolded: "SELECT ZTITLE, ZPLAYCOUNT FROM ZSONG WHERE folded_contains(ZTITLE, 'set, take 42')"
        }
    }

    func answer(_ context: NSManagedObjectContext) throws -> baseline_answer {
        switch self {
        case .grouped: try groups(context)
        case .sortedLimit:
            try songs(context) {
                $0.sortDescriptors = [NSSortDescriptor(key: "duration", ascending: true)]
                $0.fetchLimit = 100
            }
        case .containsFolded: try songs(context) { $0.predicate = NSPredicate(format: "title CONTAINS[cd] %@", "SÉT, TAKE 42") }
        }
    }

    private func songs(_ context: NSManagedObjectContext, _ ask: (NSFetchRequest<Song>) -> Void) throws -> baseline_answer {
        let request = Song.request()
        ask(request)
        var answer = baseline_answer()
        for song in try context.fetch(request) {
            answer.add(text: song.title, integer: song.playCount)
            if self == .sortedLimit { answer.reals += song.duration }
        }
        return answer
    }

    private func groups(_ context: NSManagedObjectContext) throws -> baseline_answer {
        func result(_ name: String, _ function: String, of key: String) -> NSExpressionDescription {
            let description = NSExpressionDescription()
            description.name = name
            description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
            description.expressionResultType = .integer64AttributeType
            return description
        }
        let request = NSFetchRequest<NSDictionary>(entityName: "Song")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["artist"]
        request.propertiesToFetch = ["artist", result("songs", "count:", of: "title"), result("plays", "sum:", of: "playCount")]
        var answer = baseline_answer()
        for row in try context.fetch(request) {
            let (songs, plays) = (row["songs"] as? Int64 ?? 0, row["plays"] as? Int64 ?? 0)
            answer.add(text: row["artist"] as? String, integer: songs + plays)
        }
        return answer
    }
}

extension Bench {
    func ask(_ question: SongQuestion, _ side: any Side) throws -> Double {
        let url = try filledStore(side)
        let (seconds, answer) =
            try side is RawSide ? askInC(question.sql, url) : withContext(url, Song.model(isIndexed: false), question.answer)
        return try checked(seconds, answer, side, question.sql) { try askInC(question.sql, url).1 }
    }

    func withContext<R>(
        _ url: URL,
        _ model: NSManagedObjectModel,
        options: [AnyHashable: Any]? = nil,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> (Double, R) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let measured = try context.performAndWait { try cpuSeconds { try body(context) } }
        try coordinator.remove(store)
        return (measured.seconds, measured.result)
    }

    func withConnection<R>(_ url: URL, _ body: (OpaquePointer) throws -> R) throws -> R {
        var opened: OpaquePointer?
        let code = baseline_open(url.path, &opened)
        defer { baseline_close(opened) }
        guard code == 0, let connection = opened else { throw SQLiteFailure(code: code, operation: "open") }
        return try body(connection)
    }

    func askInC(_ sql: String, _ url: URL) throws -> (Double, baseline_answer) {
        try withConnection(url) { connection in
            try withFolding(connection) {
                var answer = baseline_answer()
                let seconds = try cpuSeconds { try SQLiteFailure.check(baseline_ask(connection, sql, &answer), "ask") }.seconds
                return (seconds, answer)
            }
        }
    }

    private func withFolding<R>(_ connection: OpaquePointer, _ body: () throws -> R) throws -> R {
        var folding = baseline_folding.latin
        return try withUnsafePointer(to: &folding) {
            try SQLiteFailure.check(baseline_add_folding(connection, $0), "folding")
            return try body()
        }
    }

    /// The seconds, where the answer is the one that C gives.
    func checked(
        _ seconds: Double,
        _ answer: baseline_answer,
        _ side: any Side,
        _ what: String,
        _ expected: () throws -> baseline_answer
    ) throws -> Double {
        let expected = try expected()
        try expect([answer.rows, answer.integers, answer.text_bytes], [expected.rows, expected.integers, expected.text_bytes], side, what)
        return seconds
    }
}

extension baseline_answer {
    mutating func add(text: String?, integer: Int64) {
        rows += 1
        integers += integer
        text_bytes += Int64(text?.utf8.count ?? 0)
    }
}

extension baseline_folding {
    /// As Foundation folds them.
    fileprivate static var latin: baseline_folding {
        var folding = baseline_folding()
        for scalar in 0..<Int(BASELINE_FOLDED) {
            // None below U+D800 is a surrogate.
            let folded = Array(
                String(Unicode.Scalar(UInt16(scalar))!).folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).utf8
            )
            withUnsafeMutableBytes(of: &folding.counts) { $0[scalar] = UInt8(folded.count) }
            withUnsafeMutableBytes(of: &folding.bytes) { bytes in
                for (place, byte) in folded.enumerated() { bytes[scalar * 4 + place] = byte }
            }
        }
        return folding
    }
}
