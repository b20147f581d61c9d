import Foundation
import Testing

@testable import CoreData

@Suite("Values that rows hold in another form")
struct AttributeStoreTests {
    @Test("come back through another context and another coordinator", arguments: StoreKind.allCases)
    func roundTrip(kind: StoreKind) throws {
        let home = try StoreHome(kind)
        let stack = try Stack(home.url(), NSManagedObjectModel(Gadget.makeEntity()))
        let context = stack.newContext()
        let gadget = Gadget(context: context)
        (gadget.price, gadget.home, gadget.tags) = (try #require(Decimal(string: "10.11")), URL(string: "a:b"), ["x"])
        try context.save()
        for other in [stack, try Stack(home.url(), NSManagedObjectModel(Gadget.makeEntity()))] {
            let reader = other.newContext()
            let found = try reader.only(Gadget.self, "Gadget")
            #expect(found.price == Decimal(string: "10.11") && found.rebate == nil)
            #expect(found.home == URL(string: "a:b") && found.tags == ["x"] && found.value(forKey: "shape") == nil)
        }
    }
}
