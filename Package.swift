// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "CoreData",
    products: [
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "CoreDataStack", targets: ["CoreDataStack"]),
        .library(name: "WordNetData", targets: ["WordNetData"]),
        .library(name: "WordNetStore", targets: ["WordNetStore"]),
        .executable(name: "wordnet", targets: ["wordnet"]),
        .executable(name: "coredata", targets: ["CoreDataCommand"]),
        .plugin(name: "CoreDataModelPlugin", targets: ["CoreDataModelPlugin"]),
        .plugin(name: "CoreDataCommandPlugin", targets: ["CoreDataCommandPlugin"]),
    ],
    traits: [
        // The page of `coredata browse`. Who builds only the library names no traits (`traits: []`), and no server is fetched.
        .trait(name: "Browser", description: "The command shows stores on a page."),
        .default(enabledTraits: ["Browser"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.0"),
    ],
    targets: [
        // What several suites of tests need.
        .target(name: "TestSupport", path: "Tests/Support", swiftSettings: strict),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CShims"),
        .target(name: "SQLiteDriver", dependencies: ["CSQLite", "CShims"], swiftSettings: strict),
        .testTarget(name: "SQLiteDriverTests", dependencies: ["SQLiteDriver"], swiftSettings: strict),
        .target(name: "Predicates", dependencies: ["CShims"], swiftSettings: strict),
        .testTarget(name: "PredicatesTests", dependencies: ["Predicates", "SQLiteDriver"], swiftSettings: strict),
        .target(name: "ModelFormat", swiftSettings: strict),
        .testTarget(name: "ModelFormatTests", dependencies: ["ModelFormat", "TestSupport"], swiftSettings: strict),
        // What a program that reads or compiles models needs beside their format: predicates and version hashes.
        .target(name: "ModelCompiler", dependencies: ["ModelFormat", "Predicates"], swiftSettings: strict),
        .target(name: "ModelTools", dependencies: ["ModelCompiler", "ModelFormat"], swiftSettings: strict),
        .testTarget(
            name: "ModelToolsTests",
            dependencies: ["ModelTools", "ModelCompiler", "ModelFormat", "CoreData", "TestSupport"],
            swiftSettings: strict
        ),
        .target(
            name: "CoreData",
            dependencies: [
                "SQLiteDriver", "Predicates", "ModelFormat", "ModelCompiler", "CShims", "CSQLite",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CoreDataTests",
            dependencies: [
                "CoreData", "ModelCompiler", "ModelFormat", "ModelReaders", "Predicates", "SQLiteDriver", "MainQueueExercise",
                "AsyncMainProgram",
                "SyncMainProgram", "TestSupport", "ExampleStores",
            ],
            swiftSettings: strict
        ),
        // The stores of docs/guides/CustomStores.md, over public API; and one over the contract, as another module of the package may bring it.
        .target(name: "ExampleStores", dependencies: ["CoreData"], path: "Tests/Examples/CustomStores", swiftSettings: strict),
        // What the fuzzer of Tests/Fuzz runs: the tests run it on what the fuzzer has found.
        .target(name: "ModelReaders", dependencies: ["CoreData", "ModelFormat"], path: "Tests/Fuzz/Readers", swiftSettings: strict),
        .target(name: "MainQueueExercise", dependencies: ["CoreData"], path: "Tests/Programs/MainQueueExercise", swiftSettings: strict),
        .executableTarget(
            name: "AsyncMainProgram",
            dependencies: ["MainQueueExercise"],
            path: "Tests/Programs/AsyncMainProgram",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SyncMainProgram",
            dependencies: ["CoreData", "MainQueueExercise"],
            path: "Tests/Programs/SyncMainProgram",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "CoreDataCommand",
            dependencies: [
                "CoreData", "CShims", "ModelCompiler", "ModelFormat", "ModelTools", "SQLiteDriver",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "FlyingFox", package: "FlyingFox", condition: .when(traits: ["Browser"])),
            ],
            resources: [.embedInCode("Browse/Page.html")],
            swiftSettings: strict
        ),
        // What the plugin runs: a client builds it before anything else, so it has no argument parser and no CoreData.
        .executableTarget(name: "CoreDataModelTool", dependencies: ["ModelFormat", "ModelTools"], swiftSettings: strict),
        .plugin(
            name: "CoreDataModelPlugin",
            capability: .buildTool(),
            dependencies: ["CoreDataModelTool"],
            path: "Sources/CoreDataModelPlugin"
        ),
        .plugin(
            name: "CoreDataCommandPlugin",
            capability: .command(
                intent: .custom(verb: "coredata", description: "Works with Core Data's models and stores: swift package coredata --help")
            ),
            dependencies: ["CoreDataCommand"],
            path: "Sources/CoreDataCommandPlugin"
        ),
        .testTarget(
            name: "CoreDataCommandTests",
            dependencies: ["CoreDataCommand", "CoreData", "ModelFormat", "SQLiteDriver", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(name: "GuideTests", dependencies: ["CoreData", "CoreDataStack", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "GettingStartedTests", dependencies: ["TestSupport"], swiftSettings: strict),
        .target(
            name: "CoreDataStack",
            dependencies: ["CoreData", .product(name: "Logging", package: "swift-log")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CoreDataStackTests",
            dependencies: ["CoreDataStack", "CoreData", "SQLiteDriver", "StackProgram", "TestSupport"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "StackProgram",
            dependencies: ["CoreData", "CoreDataStack"],
            path: "Tests/Programs/StackProgram",
            swiftSettings: strict
        ),
        // The programs of articles that are older than Swift 6.
        .testTarget(
            name: "SeedTests",
            dependencies: ["CoreData", "CoreDataStack", "TestSupport"],
            resources: [.copy("DataModel.xcdatamodeld")],
            swiftSettings: strict + [.swiftLanguageMode(.v5)]
        ),
        .target(name: "WordNetData", swiftSettings: strict),
        .target(name: "WordNetStore", dependencies: ["CoreData", "CoreDataStack", "WordNetData"], swiftSettings: strict),
        .executableTarget(
            name: "wordnet",
            dependencies: [
                "CoreData", "CoreDataStack", "WordNetData", "WordNetStore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "WordNetTests",
            dependencies: [
                "WordNetData", "WordNetStore", "wordnet", "CoreData", "SQLiteDriver", "ModelFormat", "ModelTools", "TestSupport",
            ],
            swiftSettings: strict
        ),
    ]
)

// Only whoever builds the documentation needs the plugin: clients do not download it.
if Context.environment["COREDATA_DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}

// What the thread sanitizer runs: the suites in which threads meet. The others would be most of its build.
if Context.environment["COREDATA_THREADS"] != nil {
    package.targets.removeAll { $0.type == .test && !["CoreDataTests", "CoreDataStackTests"].contains($0.name) }
    package.targets.first { $0.name == "CoreDataTests" }?.exclude = [
        "Attributes", "Batch", "Container", "Contract", "Documentation", "Fetching", "Generations", "History", "Migration", "Model",
        "ObjectGraph", "Observing", "Porting", "Query", "Rows", "Schema", "Store", "Walk",
    ]
}
