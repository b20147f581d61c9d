import CoreData
import Foundation
import ModelFormat
import ModelTools
import Testing
import WordNetStore

@Suite("The picture of WordNet's model")
struct PictureTests {
    @Test("in docs is the one that is drawn of it")
    func isCurrent() throws {
        let drawn = svg(of: Model(WordNetStore.Model.make()))
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        if (try? String(contentsOf: root.appendingPathComponent("docs/wordnet-model.svg"), encoding: .utf8)) == drawn { return }
        let new = root.appendingPathComponent(".build/wordnet-model.svg")
        try Data(drawn.utf8).write(to: new)
        Issue.record("docs/wordnet-model.svg shows another model; \(new.path) is the right one.")
    }
}
