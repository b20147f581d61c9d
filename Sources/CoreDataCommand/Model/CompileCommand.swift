import ArgumentParser
import Foundation
import ModelTools

struct CompileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile",
        abstract: "Makes a .momd of all versions, which Apple's Core Data reads too.",
        discussion: "An OUT that ends in .mom gets the current version alone. A compiled model that is there is replaced."
    )

    @OptionGroup var source: ModelOptions
    @Option(name: .shortAndLong, help: "Where to put it; otherwise SRC's name with .momd, here.") var output: String?
    @Option(help: "The module that has the classes: their names get it where they have none.") var module: String?

    func run() throws {
        let file = try source.file()
        try file.compile(to: URL(fileURLWithPath: output ?? file.name + ".momd"), module: module)
    }
}
