import Foundation
import TestSupport
import Testing

@Suite("A package that depends on the library alone")
struct TraitTests {
    @Test("fetches no server when it names no traits", .timeLimit(.minutes(10)))
    func noServer() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "Client",
                dependencies: [.package(name: "CoreData", path: "\(Places.package.path)", traits: [])],
                targets: [.target(name: "Client", dependencies: [.product(name: "CoreData", package: "CoreData")])]
            )
            """,
            to: "Package.swift"
        )
        try folder.write("import CoreData\n", to: "Sources/Client/Client.swift")
        let swift = URL(fileURLWithPath: "/usr/bin/env")
        let run = try await Run(swift, ["swift", "package", "resolve", "--package-path", folder.url.path])
        #expect(run.status == 0, "\(run.errors)")
        let fetched = try folder.contents(".build/checkouts")
        #expect(fetched.contains("swift-log") && !fetched.contains("FlyingFox"), "\(fetched)")
    }
}
