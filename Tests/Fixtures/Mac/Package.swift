// swift-tools-version: 6.2
import PackageDescription

// Apple's platforms have Core Data, and a compiler that knows @objc: nothing is excluded there.
#if os(Linux)
    let packages: [Package.Dependency] = [.package(name: "CoreData", path: Context.environment["COREDATA"] ?? "../../..")]
    let coreData: [Target.Dependency] = [.product(name: "CoreData", package: "CoreData", condition: .when(platforms: [.linux]))]
    let modelPlugin: [Target.PluginUsage] = [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]
    let adopted = ["Model"]
#else
    let packages: [Package.Dependency] = []
    let coreData: [Target.Dependency] = []
    let modelPlugin: [Target.PluginUsage] = []
    let adopted: [String] = []
#endif

let package = Package(
    name: "Mac",
    dependencies: packages,
    targets: [
        .executableTarget(
            name: "Recipes",
            dependencies: coreData,
            exclude: adopted,
            swiftSettings: [.swiftLanguageMode(.v5)],
            plugins: modelPlugin
        ),
        .executableTarget(
            name: "Todos",
            dependencies: coreData,
            exclude: adopted,
            swiftSettings: [.swiftLanguageMode(.v5)],
            plugins: modelPlugin
        ),
    ]
)
