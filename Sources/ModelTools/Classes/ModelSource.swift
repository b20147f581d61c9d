import Foundation

/// The model itself in Swift, for a program that carries it along.
struct ModelSource {
    private let name: String
    private let options: GenerationOptions
    private let archive: Data

    /// - Parameter archive: the model as a `.mom`.
    init(_ name: String, _ options: GenerationOptions, _ archive: Data, classes: Set<String>) {
        self.name = name
        let typeName = SwiftNames.name(from: name) + "Model"
        self.typeName = classes.contains(typeName) ? typeName + "_" : typeName
        self.options = options
        self.archive = archive
    }

    /// Another one where the model has a class of the name.
    let typeName: String
    var fileName: String { "\(name)+CoreDataModel.swift" }

    var declarations: [String] {
        [
            "/// The model \(name), which the program carries in itself and finds under its name.",
            "\(options.access)nonisolated enum \(typeName) {",
        ]
            + ["    /// One instance for all containers and coordinators; copy it to change it."]
            + [
                "    \(options.access)static let model = NSManagedObjectModel(embedded: archive)", "",
                "    private static let archive = \"\"\"",
            ]
            + base64Lines.map { "        " + $0 } + ["        \"\"\"", "}", ""] + registration
    }

    private var base64Lines: [String] {
        archive.base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed]).split(separator: "\n").map(String.init)
    }

    /// NB: the section has the functions that run before the program's own code.
    private var registration: [String] {
        [
            "// Runs when the program is loaded, before any code of its own.",
            "@section(\".init_array\") @used",
            "private nonisolated let registration: @convention(c) () -> () = {",
            "    NSManagedObjectModel.register(\(SwiftNames.literal(name))) { \(typeName).model }",
            "}",
        ]
    }
}
