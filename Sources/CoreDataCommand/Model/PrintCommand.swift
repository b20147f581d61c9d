import ArgumentParser
import ModelTools

struct PrintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Prints a model to read: entities with their properties, constraints and indexes."
    )

    @OptionGroup var source: ModelOptions

    func run() throws {
        let file = try source.file()
        let others = file.bundle.versions.keys.filter { $0 != file.bundle.currentVersion }.sorted()
        print(
            "model \(file.name)"
                + (others.isEmpty ? "" : ", version \(file.bundle.currentVersion ?? "?"); also \(others.joined(separator: ", "))")
        )
        print()
        print(text(of: try file.current()), terminator: "")
    }
}
