import Foundation
import PackagePlugin

/// Makes of each data model among a target's sources its Swift classes and a compiled model among the target's resources, of each mapping model
/// one that is found by the hashes of its models, and of each Swift file that the target excludes a copy that compiles on Linux.
///
/// Whatever depends on what the files say is for the tool to find out: it has a reader of Swift, and its inputs are told here.
@main
struct CoreDataModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        guard let module = target.sourceModule else { return [] }
        let (tool, output) = (try context.tool(named: "CoreDataModelTool").url, context.pluginWorkDirectoryURL)
        let target = TargetFiles(module, of: context.package)
        for (name, files) in target.excludedTwice {
            Diagnostics.error(
                "Several excluded files are called \(name): \(files.map(\.path).joined(separator: ", ")). A module takes one."
            )
        }
        return [sources(target, module, tool: tool, output: output)]
            + target.models.map { compiling($0, module, tool: tool, output: output) }
            + target.mappings.map { compiling(mapping: $0, target, tool: tool, output: output) }
    }

    private func sources(_ target: TargetFiles, _ module: any SourceModuleTarget, tool: URL, output: URL) -> Command {
        let arguments =
            ["sources", "--module", module.moduleName, "--folder", target.folder.path, "--output", output.path]
            + target.models.flatMap { ["--model", $0.path] } + target.excluded.flatMap { ["--excluded", $0.path] }
            + target.own.flatMap { ["--own", $0.path] } + target.modelsAside.flatMap { ["--aside", $0] }
        let made =
            target.models.map { "\($0.plainName)+CoreDataModel.swift" } + target.excluded.map(\.nameOfCopy)
            + ["\(module.moduleName)+CoreDataNames.swift"]
        let names = target.models.map { "data model \($0.plainName)" } + target.excluded.map(\.lastPathComponent)
        return .buildCommand(
            displayName: "Making sources of \(names.isEmpty ? "no model" : names.joined(separator: ", ")) for \(module.moduleName)",
            executable: tool,
            arguments: arguments,
            inputFiles: target.models.flatMap(target.files) + target.excluded + target.own + target.options,
            outputFiles: made.map { output.appending(path: $0) }
        )
    }

    private func compiling(mapping: URL, _ target: TargetFiles, tool: URL, output: URL) -> Command {
        let compiled = output.appending(path: mapping.lastPathComponent)
        return .buildCommand(
            displayName: "Compiling mapping model \(mapping.plainName)",
            executable: tool,
            arguments: ["mapping", mapping.path, compiled.path] + target.models.map(\.path),
            inputFiles: TargetFiles.all(in: mapping) + target.models.flatMap(target.files),
            outputFiles: [compiled]
        )
    }

    private func compiling(_ model: URL, _ module: any SourceModuleTarget, tool: URL, output: URL) -> Command {
        let compiled = output.appending(path: "\(model.plainName).momd")
        return .buildCommand(
            displayName: "Compiling data model \(model.plainName)",
            executable: tool,
            arguments: ["compile", model.path, compiled.path, module.moduleName],
            inputFiles: TargetFiles.all(in: model),
            outputFiles: [compiled]
        )
    }
}

extension URL {
    var plainName: String { deletingPathExtension().lastPathComponent }
    /// As the tool calls it.
    var nameOfCopy: String { lastPathComponent == "main.swift" ? "main.swift" : "\(plainName)+Adopted.swift" }
}
