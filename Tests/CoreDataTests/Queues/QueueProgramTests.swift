import Foundation
import MainQueueExercise
import TestSupport
import Testing
import XCTest

@Suite("The main queue is served")
struct QueueProgramTests {
    @Test(
        "in programs with an async main, with dispatchMain, with a run loop",
        arguments: [
            ("AsyncMainProgram", []), ("SyncMainProgram", ["dispatchMain"]), ("SyncMainProgram", ["runLoop"]),
        ]
    )
    func programs(name: String, arguments: [String]) throws {
        let folder = try TemporaryFolder()
        let result = try Child.run(built(name).path, [folder.store.path] + arguments)
        #expect(result.output == MainQueueExercise.expected)
        #expect(result.status == 0)
    }

    @MainActor @Test("in tests of Swift Testing")
    func swiftTesting() async throws {
        let folder = try TemporaryFolder()
        #expect(try await MainQueueExercise.run(at: folder.store) == MainQueueExercise.expected)
    }

    #if DEBUG
        @Test("and the check of queues is switched off by its argument")
        func unchecked() throws {
            let flag = "-com.apple.CoreData.ConcurrencyDebug"
            #expect(try Child.run(built("SyncMainProgram").path, ["", "off", flag, "0"]).output == "false")
        }
    #endif

    private func built(_ name: String) -> URL { Places.products.appendingPathComponent(name) }
}

/// The same under XCTest, whose main thread is a run loop.
final class QueueXCTests: XCTestCase {
    @MainActor func testAsync() async throws {
        let folder = try TemporaryFolder()
        let said = try await MainQueueExercise.run(at: folder.store)
        XCTAssertEqual(said, MainQueueExercise.expected)
    }

    func testWaiting() throws {
        let folder = try TemporaryFolder()
        let url = folder.store
        let done = expectation(description: "done")
        Task { @MainActor in
            let said = try await MainQueueExercise.run(at: url)
            XCTAssertEqual(said, MainQueueExercise.expected)
            done.fulfill()
        }
        wait(for: [done], timeout: 600)
    }
}
