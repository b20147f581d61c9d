import Foundation
import ModelReaders
import Testing

@Suite("What the fuzzer has found")
struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/Corpus")

    // * Every file of the corpus is read; those that can be used are written again, and made into descriptions.
    // => Nothing traps, and of each kind some are good and some are bad.
    @Test("is read, or refused with an error", arguments: ModelReader.Kind.allCases)
    func corpus(_ kind: ModelReader.Kind) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder.appendingPathComponent(kind.rawValue),
            includingPropertiesForKeys: nil
        )
        let reader = try ModelReader(kind)
        let accepted = try files.map { reader.accepts(try Data(contentsOf: $0)) }
        #expect(accepted.contains(true) && accepted.contains(false))
    }
}
