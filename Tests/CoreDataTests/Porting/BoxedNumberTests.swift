import CoreData
import Foundation
import Testing

@Suite("A number that comes out of an expression")
struct BoxedNumberTests {
    @Test(
        "is an object that can be cast to every type that holds it",
        arguments: ["1 + 2", "3", "max({1, 3})", "sum({1, 2})", "{1, 2, 4}.@count", "TERNARY(1 == 1, 3, 4)"]
    )
    func values(format: String) throws {
        let value = try #require(NSExpression(format: format).expressionValue(with: [1, 2, 4], context: nil))
        #expect(value is NSNumber && value as? Int == 3 && value as? Double == 3 && value as? Int16 == 3, "\(type(of: value))")
    }

    @Test("is one as a constant too, and a truth value stays one")
    func constants() {
        let constants: [Any] = [3, 3.0, Int16(3), Float(3), UInt64(3), NSNumber(value: 3)]
        for constant in constants {
            let value = NSExpression(forConstantValue: constant).constantValue
            #expect(value as? Int == 3 && value as? Double == 3, "\(type(of: constant))")
        }
        #expect(NSExpression(forConstantValue: true).constantValue as? Bool == true)
        #expect(NSExpression(forConstantValue: "3").constantValue as? String == "3")
        #expect(NSExpression(forConstantValue: nil).constantValue == nil)
        #expect(NSExpression(forConstantValue: Decimal(3)).constantValue as? NSDecimalNumber == 3)
    }

    @Test("is one at the end of a key path with an operator", arguments: StoreKind.allCases)
    func keyPaths(kind: StoreKind) throws {
        let library = try Library(kind)
        let (first, second) = (Book(context: library.context), Book(context: library.context))
        (first.pages, second.pages) = (1, 3)
        let tag = Tag(context: library.context)
        tag.books = [first, second]
        for (path, value) in [("books.@count", 2), ("books.@sum.pages", 4), ("books.@avg.pages", 2), ("books.@max.pages", 3)] {
            let found = tag.value(forKeyPath: path)
            #expect(found as? Int == value && found as? Double == Double(value), "\(path)")
        }
    }

    @Test("is equal to the comparison's constant, which is one as well")
    func comparisons() throws {
        let predicate = try #require(NSPredicate(format: "pages == 3") as? CoreData.NSComparisonPredicate)
        #expect(predicate.rightExpression.constantValue as? Double == 3)
    }
}

@Suite("The user info of descriptions")
struct DescriptionUserInfoTests {
    @Test("is empty, not nil, and can be changed while the model is in use", arguments: StoreKind.allCases)
    func userInfo(kind: StoreKind) throws {
        let library = try Library(kind)
        let entity = try #require(library.model.entitiesByName["Book"])
        let title = try #require(entity.attributesByName["title"])
        #expect(entity.userInfo?.isEmpty == true && title.userInfo?.isEmpty == true)
        entity.userInfo?["symbol"] = "book"
        title.userInfo = ["label": "Title"]
        #expect(
            library.context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Book"]?.userInfo?["symbol"] as? String == "book"
        )
        title.userInfo = nil
        #expect(title.userInfo?.isEmpty == true)
        _ = try library.savedBook()
    }
}
