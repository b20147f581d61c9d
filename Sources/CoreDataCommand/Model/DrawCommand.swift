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

    private var url: URL? { output.map { URL(fileURLWithPath: $0) } }

    func validate() throws {
        guard let url, !["svg", "mmd"].contains(url.pathExtension) else { return }
        throw ValidationError("\(url.relativePath) must end in .svg or .mmd.")
    }

    func run() throws {
        let model = try source.file().current()
        guard let url else { return print(svg(of: model), terminator: "") }
        let drawing = url.pathExtension == "svg" ? svg(of: model) : mermaid(of: model)
        try Data(drawing.utf8).write(to: url, options: .atomic)
    }
}
