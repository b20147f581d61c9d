import Foundation
import PackagePlugin

/// Makes of each data model among a target's sources its Swift classes and a compiled model among the target's resources.
@main
struct CoreDataModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        guard let module = target.sourceModule else { return [] }
        let tool = try context.tool(named: "CoreDataCommand").url
        return module.sourceFiles.map(\.url).filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }.flatMap { model in
            commands(for: model, module: module.moduleName, tool: tool, output: context.pluginWorkDirectoryURL)
        }
    }

    private func commands(for model: URL, module: String, tool: URL, output: URL) -> [Command] {
        let name = model.deletingPathExtension().lastPathComponent
        let compiled = output.appending(path: "\(name).momd")
        return [
            .buildCommand(
                displayName: "Making classes of data model \(name)",
                executable: tool,
                arguments: ["model", "generate", model.path, "-o", output.path, "--module", module, "--public", "--one-file"],
                inputFiles: files(in: model),
                outputFiles: [output.appending(path: "\(name)+CoreDataModel.swift")]
            ),
            .buildCommand(
                displayName: "Compiling data model \(name)",
                executable: tool,
                arguments: ["model", "compile", model.path, "-o", compiled.path, "--module", module],
                inputFiles: files(in: model),
                outputFiles: [compiled]
            ),
        ]
    }

    /// The model, and the files in it, so that a change in any of them is noticed.
    private func files(in model: URL) -> [URL] {
        let inside = FileManager.default.enumerator(at: model, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        return [model] + inside.filter { !$0.hasDirectoryPath }
    }
}
