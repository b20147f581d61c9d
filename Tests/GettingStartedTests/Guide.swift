import Foundation

/// A guide: what it has the reader do, and what it says comes out.
struct Guide {
    enum Step: Equatable {
        /// Commands, one after the other in one shell.
        case shell(String)
        /// A file, by its path in the folder in which the reader begins.
        case file(String, String)
        /// What a run prints.
        case output(String)
    }

    let steps: [Step]

    /// Reads the fenced blocks of a text in Markdown. A file's path is the last code in the text before its block, which ends in ` is:`.
    init(_ markdown: String) {
        var steps: [Step] = []
        let parts = markdown.components(separatedBy: "\n```")
        // Before a block, and in it, by turns. A block begins with the name of its language.
        for (text, block) in zip(parts, parts.dropFirst()).enumerated().filter({ $0.offset % 2 == 0 }).map(\.element) {
            let language = block.prefix { $0 != "\n" }
            let content = block.dropFirst(language.count + 1) + "\n"
            switch language {
            case "sh": steps.append(.shell(String(content)))
            case "text": steps.append(.output(String(content)))
            default: steps.append(.file(Self.path(before: text), String(content)))
            }
        }
        self.steps = steps
    }

    private static func path(before text: String) -> String {
        let pieces = text.components(separatedBy: "`")
        guard pieces.count > 2, pieces.last?.trimmingCharacters(in: .whitespacesAndNewlines) == "is:" else { return "" }
        return pieces[pieces.count - 2]
    }

    /// How many lines of shell and Swift the reader has to write.
    var lineCount: Int {
        steps.reduce(0) { count, step in
            switch step {
            case .shell(let text): count + text.split(separator: "\n").count
            case .file(let path, let text) where path.hasSuffix(".swift"): count + text.split(separator: "\n").count
            default: count
            }
        }
    }
}
