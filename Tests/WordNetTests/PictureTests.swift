import CoreData
import Foundation
import ModelFormat
import ModelTools
import TestSupport
import Testing
import WordNetStore

@Suite("The picture of WordNet's model")
struct PictureTests {
    @Test("in docs is the one that is drawn of it")
    func isCurrent() throws {
        let drawn = svg(of: Model(WordNetStore.Model.make()))
        if (try? String(contentsOf: Places.package.appendingPathComponent("docs/wordnet-model.svg"), encoding: .utf8)) == drawn { return }
        let new = Places.package.appendingPathComponent(".build/wordnet-model.svg")
        try Data(drawn.utf8).write(to: new)
        Issue.record("docs/wordnet-model.svg shows another model; \(new.path) is the right one.")
    }
}
