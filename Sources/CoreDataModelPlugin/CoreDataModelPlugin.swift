import Foundation
import PackagePlugin

/// Makes of each data model among a target's sources its Swift classes and a compiled model among the target's resources, and of each
/// file with `@NSManaged` that the target excludes a copy that compiles on Linux.
@main
struct CoreDataModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        guard let module = target.sourceModule else { return [] }
        let (tool, output) = (try context.tool(named: "CoreDataCommand").url, context.pluginWorkDirectoryURL)
        let models = module.sourceFiles.map(\.url).filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }
        let options = try PluginOptions(of: module).arguments + ["--module", module.moduleName]
        return models.flatMap { commands(for: $0, options, module: module.moduleName, tool: tool, output: output) }
            + excludedSources(of: module).map { adoption(of: $0, tool: tool, output: output) }
    }

    private func commands(for model: URL, _ options: [String], module: String, tool: URL, output: URL) -> [Command] {
        let name = model.deletingPathExtension().lastPathComponent
        let compiled = output.appending(path: "\(name).momd")
        return [
            .buildCommand(
                displayName: "Making classes of data model \(name)",
                executable: tool,
                arguments: ["model", "generate", model.path, "-o", output.path, "--one-file"] + options,
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

    private func adoption(of source: URL, tool: URL, output: URL) -> Command {
        let copy = output.appending(path: source.deletingPathExtension().lastPathComponent + "+Adopted.swift")
        return .buildCommand(
            displayName: "Adopting \(source.lastPathComponent)",
            executable: tool,
            arguments: ["model", "adopt", source.path, "-o", output.path],
            inputFiles: [source],
            outputFiles: [copy]
        )
    }

    /// The model, and the files in it, so that a change in any of them is noticed.
    private func files(in model: URL) -> [URL] {
        [model] + contents(of: model).filter { !$0.hasDirectoryPath }
    }

    private func contents(of folder: URL) -> [URL] {
        FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    }

    /// The Swift files in the target's folder that are not the target's, if they are classes of a model: by what they say, or as Xcode
    /// names them.
    private func excludedSources(of module: any SourceModuleTarget) -> [URL] {
        let own = Set(module.sourceFiles.map(\.url.standardizedFileURL.path))
        return contents(of: module.directoryURL).filter { file in
            guard file.pathExtension == "swift", !own.contains(file.standardizedFileURL.path) else { return false }
            if file.lastPathComponent.hasSuffix("+CoreDataClass.swift") { return true }
            return (try? String(contentsOf: file, encoding: .utf8))?.contains("@NSManaged") == true
        }.sorted { $0.path < $1.path }
    }
}
