import Foundation
import PackagePlugin

/// `swift package coredata …`: the command `coredata`, in the folder of a package that depends on this one.
@main
struct CoreDataCommandPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        if arguments.contains("-") {
            return Diagnostics.error("SwiftPM hands no standard input on: give the statements themselves, as in \"$(cat statements.sql)\"")
        }
        let process = Process()
        process.executableURL = try context.tool(named: "CoreDataCommand").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        // What the plugin would read there is SwiftPM's.
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        // The command has said what is wrong; SwiftPM ends with 1 for whatever status it had.
        if process.terminationStatus != 0 { Diagnostics.error("coredata ended with status \(process.terminationStatus)") }
    }
}
