import ArgumentParser
import Foundation
import ModelTools

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Makes the Swift classes that the model asks for.",
        discussion: """
            For each entity what its Codegen setting says: the class and its properties, the properties alone, or nothing; and the model \
            itself, which the program then finds by name. Files that would not change are not written.
            """
    )

    @OptionGroup var source: ModelOptions
    @Option(name: .shortAndLong, help: "The folder for the files.") var output: String
    @Flag(help: "Make everything public.") var `public` = false
    @Option(help: "The module that the files will be part of.") var module: String?
    @Option(help: "The types of properties: as Xcode's, or Swift's own.") var style = PropertyStyle.xcode
    @Flag(help: "Put everything into one file, NAME+CoreDataModel.swift.") var oneFile = false

    func run() throws {
        let file = try source.file()
        let model = try file.current()
        let options = GenerationOptions(moduleName: module, isPublic: `public`, style: style)
        let archive = try file.archive(module: module)
        let files =
            oneFile
            ? [try swiftSource(of: model, named: file.name, archive: archive, options)]
            : try swiftSources(of: model, named: file.name, archive: archive, options)
        let folder = URL(fileURLWithPath: output)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in files { try writeIfNew(Data(file.text.utf8), to: folder.appendingPathComponent(file.name)) }
    }
}

extension PropertyStyle: ExpressibleByArgument {}
