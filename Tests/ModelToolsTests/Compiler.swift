import Foundation
import TestSupport

/// The compiler, on sources that use the modules which were built beside the tests.
enum Compiler {
    /// What it says about the sources as a module of that name, in Swift 6 mode with warnings as errors; empty when they are right.
    ///
    /// - Parameter isMainActors: what says no isolation is the main actor's.
    static func complaints(about sources: [URL], module: String, isMainActors: Bool = false) async throws -> String {
        let folder = try TemporaryFolder()
        let run = try await Run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["swiftc", "-c", "-wmo", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-module-name", module]
                + (isMainActors ? ["-default-isolation", "MainActor"] : [])
                + ["-I", Places.products.appendingPathComponent("Modules").path, "-o", folder.path("module.o")]
                + moduleMaps.flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] } + sources.map(\.path)
        )
        return run.status == 0 ? "" : "exit status \(run.status)\n\(run.output)\(run.errors)"
    }

    private static let moduleMaps = [
        Places.products.appendingPathComponent("CShims.build/module.modulemap"),
        Places.package.appendingPathComponent("Sources/CSQLite/module.modulemap"),
    ]
}
