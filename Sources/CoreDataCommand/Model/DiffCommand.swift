import ArgumentParser
import ModelCompiler
import ModelTools

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Says what a lightweight migration from one version to another would do, or why it cannot.",
        discussion: """
            Lines that begin with "!" are what no mapping can be inferred for. Exit status: 0 where a store opens, with a lightweight \
            migration or without any; 1 where it takes a mapping model.
            """
    )

    @Argument(help: "The version that stores have: a version's file, or a bundle for its current one.", completion: .file()) var old: String
    @Argument(help: "The version to come.", completion: .file()) var new: String
    @Flag(help: "Print an object: steps, obstacles, whether it is lightweight, whether stores are compatible as they are.") var json = false

    private struct Answer: Encodable {
        let steps, obstacles: [ModelDifference.Step]
        let isLightweight, isCompatible: Bool
    }

    func run() throws {
        let (from, to) = (try modelFile(old), try modelFile(new))
        let difference = difference(from: try from.current(), to: try to.current())
        let isCompatible = try from.hashes() == to.hashes()
        if json {
            try printJSON(
                Answer(
                    steps: difference.steps,
                    obstacles: difference.obstacles,
                    isLightweight: difference.isLightweight,
                    isCompatible: isCompatible
                )
            )
        } else {
            show(difference, isCompatible)
        }
        if !isCompatible, !difference.isLightweight { throw answerNo }
    }

    private func show(_ difference: ModelDifference, _ isCompatible: Bool) {
        let lines = difference.steps.map { ["  " + $0.place, $0.text] } + difference.obstacles.map { ["! " + $0.place, $0.text] }
        columns(lines).forEach { print($0) }
        if !difference.isEmpty { print() }
        print(
            isCompatible
                ? "Stores open as they are: the version hashes are the same."
                : difference.isLightweight ? "A lightweight migration does it." : "It takes a mapping model."
        )
    }
}
