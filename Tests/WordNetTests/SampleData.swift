import Foundation
import TestSupport
import WordNetData

/// A folder with a WordNet of seven synsets, written as the real files are; removed with the object.
final class SampleData {
    private let folder: TemporaryFolder
    var url: URL { folder.url }

    init() throws {
        folder = try TemporaryFolder()
        let offsets = Self.offsets
        for (name, text) in Self.templates {
            try write(offsets.reduce(text) { $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value) }, to: name)
        }
    }

    /// The sample with one text of a file replaced. Replacements of equal length leave the offsets right.
    convenience init(changing file: String, _ old: String, to new: String) throws {
        try self.init()
        let text = try String(contentsOf: url.appendingPathComponent(file), encoding: .utf8)
        let old = Self.offsets.reduce(old) { $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value) }
        guard text.contains(old) else { throw CocoaError(.formatting) }
        try write(text.replacingOccurrences(of: old, with: new), to: file)
    }

    func lexicon() throws -> Lexicon {
        // The folder goes with the object, and reading `url` alone would let the object go too early.
        try withExtendedLifetime(self) { try Lexicon(contentsOf: url) }
    }

    func write(_ text: String, to file: String) throws { try folder.write(text, to: file) }

    func remove(_ file: String) throws {
        try FileManager.default.removeItem(at: folder.file(file))
    }

    /// The byte offset of each synset, by the name that begins its line.
    static let offsets: [String: String] = {
        var offsets: [String: String] = [:]
        for (_, text) in templates {
            var offset = 0
            for line in text.components(separatedBy: "\n") {
                if line.hasPrefix("{"), let name = line.dropFirst().split(separator: "}").first {
                    offsets[String(name)] = String(format: "%08d", offset)
                }
                // Each name in braces becomes eight digits.
                let names = line.components(separatedBy: "{").dropFirst().map { $0.prefix { $0 != "}" } }
                offset += line.utf8.count + 1 + names.reduce(0) { $0 + 8 - ($1.utf8.count + 2) }
            }
        }
        return offsets
    }()

    private static let licence = "  1 A licence.  \n  2 Its second line.  \n"

    private static let templates = [
        "data.noun": licence + """
            {entity} 03 n 01 entity 0 001 ~ {dog} n 0000 | that which is  
            {dog} 05 n 02 dog 0 domestic_dog a 002 @ {entity} n 0000 + {chase} v 0102 | a beast | "the dog barked"  
            {letter} 10 n 02 A 0 a 0 001 @ {entity} n 0000 | the first letter: é  

            """,
        "data.verb": licence + """
            {chase} 38 v 02 chase 0 dog 1 001 + {dog} n 0201 02 + 08 00 + 11 02 | go after  

            """,
        "data.adj": licence + """
            {able} 00 a 01 able 0 001 & {capable} a 0000 | having the means  
            {capable} 00 s 02 capable(p) 0 able 1 001 & {able} a 0000 | having the skill  

            """,
        "data.adv": licence + """
            {ably} 02 r 01 ably 0 001 \\ {able} a 0101 | with skill  

            """,
        "index.noun": licence + """
            a n 1 1 @ 1 0 {letter}  
            dog n 1 2 @ + 1 1 {dog}  
            domestic_dog n 1 1 @ 1 0 {dog}  
            entity n 1 1 ~ 1 1 {entity}  

            """,
        "index.verb": licence + """
            chase v 1 0 1 0 {chase}  
            dog v 1 1 + 1 0 {chase}  

            """,
        "index.adj": licence + """
            able a 2 1 & 2 1 {capable} {able}  
            capable a 1 1 & 1 0 {capable}  

            """,
        "index.adv": licence + """
            ably r 1 1 \\ 1 0 {ably}  

            """,
    ]
}
