// swift-tools-version: 6.2
import PackageDescription

// The readers of model files under libFuzzer: see `run`. The modules under test are built again here, with the fuzzer's counters in
// them; SwiftPM wants them inside of the package, so `Sources` leads to those of the package around this one.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3"),
        .target(name: "CShims", path: "Sources/CShims"),
        .target(name: "SQLiteDriver", dependencies: ["CSQLite", "CShims"], path: "Sources/SQLiteDriver", swiftSettings: strict),
        .target(name: "Predicates", dependencies: ["CShims"], path: "Sources/Predicates", swiftSettings: strict),
        .target(name: "ModelFormat", path: "Sources/ModelFormat", swiftSettings: strict),
        .target(
            name: "CoreData",
            dependencies: [
                "SQLiteDriver", "Predicates", "ModelFormat", "CShims", "CSQLite",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Sources/CoreData",
            swiftSettings: strict
        ),
        .target(name: "ModelReaders", dependencies: ["CoreData", "ModelFormat"], path: "Readers", swiftSettings: strict),
        .executableTarget(
            name: "Fuzzer",
            dependencies: ["ModelReaders", "ModelFormat"],
            path: "Fuzzer",
            // NB: libFuzzer has the program's `main`.
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]
        ),
    ]
)
