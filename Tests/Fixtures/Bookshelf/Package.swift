// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Bookshelf",
    dependencies: [.package(name: "CoreData", path: "../../..")],
    targets: [
        .executableTarget(
            name: "Bookshelf",
            dependencies: ["Catalog", .product(name: "CoreData", package: "CoreData")],
            swiftSettings: [.treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]
        ),
        .target(
            name: "Catalog",
            dependencies: [.product(name: "CoreData", package: "CoreData")],
            // Files with @NSManaged as Xcode wrote them: the plugin makes copies of them that compile here.
            exclude: ["Xcode"],
            swiftSettings: [.treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]
        ),
    ]
)
