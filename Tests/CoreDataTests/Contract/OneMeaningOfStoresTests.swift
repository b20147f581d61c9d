import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("A request to a store of another kind")
struct OneMeaningOfStoresTests {
    // * Random models, graphs and requests, as in `OneMeaningTests`; the data in a database, in documents, and in an incremental store.
    // => Each store gives the objects, in the order, that a reference finds among plain values.
    @Test("has the meaning that it has for a database", arguments: 1...6 as ClosedRange<UInt64>)
    func oneMeaning(seed: UInt64) throws {
        ContractKind.register()
        let folder = try TemporaryFolder()
        let stores = [ContractKind.memory, .binary, .xml, .dictionary].map { kind in
            (type: kind.type, place: { kind == .memory ? nil : folder.file("Store.\(UUID().uuidString)") })
        }
        var meaning = try OneMeaning(seed: seed + 1000, kinds: [:], stores: stores)
        try meaning.ask(25)
        for difference in meaning.differences.prefix(3) { Issue.record("\(difference)") }
    }
}
