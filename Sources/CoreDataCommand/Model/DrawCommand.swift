import ArgumentParser
import Foundation
import ModelTools

struct DrawCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "draw",
        abstract: "Draws an entity diagram, as SVG or in Mermaid's language.",
        discussion: "The ending of F says which: .svg, or .mmd for Mermaid. Without F, SVG is printed."
    )

    @OptionGroup var source: ModelOptions
    @Option(name: .shortAndLong, help: "The file F to write.") var output: String?

    func run() throws {
        let model = try source.file().current()
        guard let output else { return print(svg(of: model), terminator: "") }
        let url = URL(fileURLWithPath: output)
        switch url.pathExtension {
        case "svg": try Data(svg(of: model).utf8).write(to: url, options: .atomic)
        case "mmd": try Data(mermaid(of: model).utf8).write(to: url, options: .atomic)
        default: throw Failure("\(output) must end in .svg or .mmd.")
        }
    }
}
