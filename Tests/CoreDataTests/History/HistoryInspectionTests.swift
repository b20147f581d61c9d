import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("The inspector of a store")
struct HistoryInspectionTests {
    @Test("says which properties a transaction has changed, those that entities inherit among them")
    func properties() throws {
        let library = try trackedLibrary(.file)
        let author = Author(context: library.context)
        try library.context.save()
        (author.name, author.penName) = ("Mary Ann", "George")
        try library.context.save()
        let latest = try StoreInspector(url: library.url).transactions(of: LibraryModel.make(), offset: 0, limit: 1)
        #expect(latest.flatMap(\.changes).map(\.properties) == [["name", "penName"]])
    }
}
