import ArgumentParser
import Foundation

struct DataOptions: ParsableArguments {
    @Option(help: "The folder with WordNet's files. Otherwise $WNSEARCHDIR, $WNHOME/dict or where packages put them.")
    var data: String?

    /// The first folder with WordNet in it.
    ///
    /// - Throws: `ExitCode` 2, after saying what to install, when there is none.
    func folder() throws -> URL {
        let candidates = (data.map { [$0] } ?? usualFolders()).map { URL(fileURLWithPath: $0) }
        guard let folder = candidates.first(where: hasData) else {
            let places = candidates.map(\.path).joined(separator: " or ")
            printError("There is no WordNet in \(places): install Debian's package wordnet-base or name its folder with --data.")
            throw ExitCode(2)
        }
        return folder
    }

    private func usualFolders() -> [String] {
        let environment = ProcessInfo.processInfo.environment
        return [environment["WNSEARCHDIR"], environment["WNHOME"].map { $0 + "/dict" }].compactMap { $0 }
            + ["/usr/share/wordnet", "/usr/local/WordNet-3.0/dict"]
    }

    private func hasData(_ folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("data.noun").path)
    }
}

struct StoreFileOption: ParsableArguments {
    @Option(help: "The store's file.") var store: String

    var url: URL { URL(fileURLWithPath: store) }
}

/// A failure that is told in one sentence.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(description: String) { self.description = description }
    init(noWord word: String) { description = "WordNet has no word \"\(word)\"." }
}
