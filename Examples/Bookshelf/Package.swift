// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Bookshelf",
    dependencies: [.package(name: "CoreData", path: "../..")],
    targets: [
        .executableTarget(
            name: "Bookshelf",
            dependencies: [.product(name: "CoreData", package: "CoreData")],
            swiftSettings: [.treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]
        )
    ]
)
