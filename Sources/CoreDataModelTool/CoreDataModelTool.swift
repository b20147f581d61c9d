import Foundation
import ModelFormat
import ModelTools

/// What the build plugin runs. It is built before anything else of a program that uses the plugin, and so has nothing that takes long to
/// build: no argument parser, no `CoreData`. People have the command `coredata`.
///
///     CoreDataModelTool sources --module M --folder DIR --output DIR [--model PATH]… [--excluded PATH]… [--own PATH]… [--aside PATH]…
///     CoreDataModelTool compile MODEL OUT.momd MODULE
///     CoreDataModelTool mapping MAPPING OUT.xcmappingmodel [MODEL]…
@main
enum CoreDataModelTool {
    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let verb = arguments.isEmpty ? "" : arguments.removeFirst()
        switch (verb, arguments.count) {
        case ("sources", _): end(with: build(arguments).run())
        case ("compile", 3): end(with: compile(arguments[0], to: arguments[1], module: arguments[2]))
        case ("mapping", 2...): end(with: compileMapping(arguments[0], to: arguments[1], models: Array(arguments[2...])))
        default: end(with: [SourceMessage(.error, "CoreDataModelTool", nil, "The arguments are none: \(CommandLine.arguments)")])
        }
    }

    private static func build(_ arguments: [String]) -> TargetBuild {
        var build = TargetBuild()
        for index in stride(from: 0, to: arguments.count - 1, by: 2) {
            let value = arguments[index + 1]
            switch arguments[index] {
            case "--module": build.module = value
            case "--folder": build.folder = value
            case "--output": build.output = value
            case "--model": build.models.append(value)
            case "--excluded": build.excluded.append(value)
            case "--aside": build.modelsAside.append(value)
            default: build.own.append(value)
            }
        }
        return build
    }

    private static func compile(_ path: String, to output: String, module: String) -> [SourceMessage] {
        messages(about: path) {
            try ModelFile(path: path).compile(to: URL(fileURLWithPath: output), module: module)
            return []
        }
    }

    private static func compileMapping(_ path: String, to output: String, models: [String]) -> [SourceMessage] {
        messages(about: path) { try MappingFile(path: path).compile(to: URL(fileURLWithPath: output), models: models) }
    }

    private static func messages(about path: String, _ body: () throws -> [SourceMessage]) -> [SourceMessage] {
        do {
            return try body()
        } catch let error as SourceMessages {
            return error.messages
        } catch let error as ModelFormatError {
            return [error.message(about: path)]
        } catch {
            return [SourceMessage(.error, path, nil, "\(error)")]
        }
    }

    private static func end(with messages: [SourceMessage]) -> Never {
        for message in messages { FileHandle.standardError.write(Data("\(message)\n".utf8)) }
        exit(messages.contains { $0.kind == .error } ? 1 : 0)
    }
}
