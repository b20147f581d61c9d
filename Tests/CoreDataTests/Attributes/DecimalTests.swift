import Foundation
import Testing

@testable import CoreData

@Suite("A decimal attribute")
struct DecimalTests {
    let stage: Stage
    var context: NSManagedObjectContext { stage.context }

    init() throws { stage = try Stage { [Gadget.makeEntity()] } }

    private static let numbers = [
        "0", "1", "-1", "10.11", "0.1", "-0.000000000000123", "123456789012.345", "9223372036854775807", "-9223372036854775808", "1e30",
        "3.3333333332999993", "1e-100",
    ]

    @Test("comes back from the file as it was set, with up to fifteen digits or as a whole number of 64 bits", arguments: numbers)
    func roundTrip(text: String) throws {
        let number = try #require(Decimal(string: text))
        let gadget = Gadget(context: context)
        gadget.price = number
        try context.save()
        #expect(try stage.separateContext().only(Gadget.self, "Gadget").price == number)
    }

    @Test("is stored as the number that other programs expect: an integer where it is whole, else a real")
    func stored() throws {
        for text in ["10", "10.11", "1e30"] { Gadget(context: context).price = try #require(Decimal(string: text)) }
        try context.save()
        #expect(try stage.sql("SELECT typeof(ZPRICE), ZPRICE FROM ZGADGET ORDER BY 2") == "integer|10\nreal|10.11\nreal|1.0e+30")
    }

    @Test("keeps all its digits until the object is read again, also through a child context")
    func digits() throws {
        let long = try #require(Decimal(string: "1234567890.12345678901234567890"))
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        let gadget = Gadget(context: child)
        gadget.price = long
        try child.save()
        let parents = try context.only(Gadget.self, "Gadget")
        #expect(parents.price == long)
        try context.save()
        #expect(parents.price == long)
        #expect(try stage.separateContext().only(Gadget.self, "Gadget").price == Decimal(string: "1234567890.1234567"))
    }

    @Test("by name is a Decimal that can be had as NSDecimalNumber and NSNumber, and takes any number")
    func byName() throws {
        let gadget = Gadget(context: context)
        for value in [NSDecimalNumber(string: "2.5"), Decimal(string: "2.5") as Any, 2.5, Float(2.5), NSNumber(value: 2.5)] {
            gadget.setValue(nil, forKey: "price")
            #expect(gadget.value(forKey: "price") == nil && gadget.price == 0)
            gadget.setValue(value, forKey: "price")
            #expect(gadget.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "2.5"))
            #expect(gadget.value(forKey: "price") as? Decimal == Decimal(string: "2.5"))
            #expect((gadget.value(forKey: "price") as? NSNumber)?.doubleValue == 2.5)
        }
        gadget.setValue(0.1, forKey: "price")
        #expect(gadget.price == Decimal(string: "0.1"))
        gadget.setValue(UInt64.max, forKey: "price")
        #expect(gadget.price == Decimal(UInt64.max))
        #expect(Set(gadget.changedValues().values.compactMap { $0 as? AnyHashable }) == [Decimal(UInt64.max)])
    }

    @Test("reads what other programs have put into the column", arguments: ["7", "7.25", "'7.25'", "NULL", "'abc'"])
    func foreign(literal: String) throws {
        Gadget(context: context).price = 1
        try context.save()
        _ = try stage.sql("UPDATE ZGADGET SET ZPRICE = \(literal)")
        let gadget = try stage.separateContext().only(Gadget.self, "Gadget")
        let expected = ["7": "7", "7.25": "7.25", "'7.25'": "7.25", "'abc'": "0"][literal].flatMap { Decimal(string: $0) }
        #expect(gadget.value(forKey: "price") as? Decimal == expected)
    }

    @Test("that is no number is refused with its name, as are bounds of the model")
    func validation() throws {
        let gadget = Gadget(context: context)
        gadget.price = .nan
        #expect(errorCode { try context.save() } == NSManagedObjectValidationError)
        gadget.price = 1
        try context.save()
        let stage = try Stage {
            [
                Gadget.makeEntity {
                    $0.attributesByName["price"]?.setValidationPredicates(
                        [NSPredicate(format: "SELF >= %@", NSDecimalNumber(string: "0.5"))],
                        withValidationWarnings: ["\(NSValidationNumberTooSmallError)"]
                    )
                }
            ]
        }
        let cheap = Gadget(context: stage.context)
        cheap.price = try #require(Decimal(string: "0.4"))
        #expect(errorCode { try stage.context.save() } == NSValidationNumberTooSmallError)
        cheap.price = try #require(Decimal(string: "0.5"))
        try stage.context.save()
    }

    @Test("is found and sorted by the same, saved or not")
    func queries() throws {
        let numbers = ["-3", "0.1", "0.3", "9.99", "10", "10.11", "1e12"].compactMap { Decimal(string: $0) }
        for number in numbers.shuffled() {
            let gadget = Gadget(context: context)
            gadget.price = number
            gadget.rebate = number < 1 ? nil : number
        }
        let formats = [
            "price == 10.11", "price > 9.99", "price BETWEEN {0.1, 10}", "rebate == nil", "price IN {0.3, 10}", "price + 1 > 1.2",
        ]
        func answers() throws -> [[Decimal]] {
            try formats.map { format in
                let request = NSFetchRequest<Gadget>(entityName: "Gadget")
                request.predicate = NSPredicate(format: format)
                request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
                return try context.fetch(request).map(\.price)
            }
        }
        let unsaved = try answers()
        try context.save()
        context.reset()
        #expect(try answers() == unsaved)
        #expect(unsaved[0] == [Decimal(string: "10.11")] && unsaved[1].count == 3 && unsaved[3].count == 3)
    }

    @Test("has the default of its model, and changes count by value")
    func defaults() throws {
        let stage = try Stage { [Gadget.makeEntity { $0.attributesByName["price"]?.defaultValue = NSDecimalNumber(string: "9.50") }] }
        let gadget = Gadget(context: stage.context)
        #expect(gadget.price == Decimal(string: "9.5"))
        try stage.context.save()
        gadget.price = try #require(Decimal(string: "9.5"))
        #expect(gadget.hasChanges && !gadget.hasPersistentChangedValues)
    }
}
