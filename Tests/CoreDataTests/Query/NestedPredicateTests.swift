import Foundation
import Predicates
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A fetch with a predicate that is nested deep")
struct NestedPredicateTests {
    private static func alternation(_ depth: Int) -> NSPredicate {
        let (old, young) = (NSPredicate(format: "age > 1"), NSPredicate(format: "age == 9"))
        return (0..<depth).reversed().reduce(NSPredicate(format: "name == 'p5'")) { inner, level in
            level.isMultiple(of: 2)
                ? NSCompoundPredicate(andPredicateWithSubpredicates: [old, inner])
                : NSCompoundPredicate(orPredicateWithSubpredicates: [young, inner])
        }
    }

    private static func fold(_ count: Int) -> NSPredicate {
        (0..<count).reduce(NSPredicate(format: "age == 2")) { whole, number in
            NSCompoundPredicate(orPredicateWithSubpredicates: [whole, NSPredicate(format: "name == %@", "q\(number)")])
        }
    }

    private static func negations(_ depth: Int) -> NSPredicate {
        let old = NSPredicate(format: "age >= 0")
        return (0..<depth).reduce(NSPredicate(format: "age == 3")) { inner, _ in
            NSCompoundPredicate(notPredicateWithSubpredicate: NSCompoundPredicate(andPredicateWithSubpredicates: [old, inner]))
        }
    }

    /// `age + 1 + 1 … == count + 4`, nested on the left or on the right.
    private static func sum(_ count: Int, onTheRight: Bool) -> NSPredicate {
        typealias Expression = Predicates.NSExpression
        let sum = (0..<count).reduce(Expression(forKeyPath: "age")) { sum, _ in
            Expression(forFunction: "add:to:", arguments: onTheRight ? [Expression(forConstantValue: 1), sum] : [sum, 1])
        }
        return Predicates.NSComparisonPredicate(
            leftExpression: sum,
            rightExpression: Expression(forConstantValue: count + 4),
            modifier: .direct,
            type: .equalTo
        )
    }

    private static func steps(_ count: Int, _ last: String) -> String {
        (Array(repeating: "boss", count: count) + [last]).joined(separator: ".")
    }

    @Test("finds what it means, whatever SQLite's parser can take; before and after a save", arguments: StoreKind.allCases)
    func fetches(kind: StoreKind) throws {
        let library = try Library(kind)
        let context = library.context
        for age in 0..<10 {
            let person = Person(context: context)
            (person.name, person.age) = ("p\(age)", Int16(age))
        }
        func names(_ predicate: NSPredicate) throws -> [String] {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.predicate = predicate
            return try context.fetch(request).compactMap(\.name).sorted()
        }
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            for depth in [16, 24, 31, 32, 33, 48, 64, 100, 101, 500] {
                #expect(try names(Self.alternation(depth)) == ["p5", "p9"], "alternation \(depth)")
                #expect(try names(Self.negations(depth)) == names(NSPredicate(format: depth.isMultiple(of: 2) ? "age == 3" : "age != 3")))
                #expect(try names(Self.sum(depth, onTheRight: false)) == ["p4"], "sum \(depth)")
                #expect(try names(Self.sum(depth, onTheRight: true)) == ["p4"], "sum on the right \(depth)")
            }
            for count in [89, 90, 101, 2_000] { #expect(try names(Self.fold(count)) == ["p2"], "fold \(count)") }
        }
    }

    @Test("goes along more to-one relationships than a statement can join, in predicate and order", arguments: [62, 63, 64, 65, 200])
    func longPaths(count: Int) throws {
        let library = try Library()
        let context = library.context
        let people = (0...count).map { number in
            let person = Person(context: context)
            (person.name, person.age) = ("p\(number)", Int16(number))
            return person
        }
        for (person, boss) in zip(people, people.dropFirst()) { person.boss = boss }
        try context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "%K == %@ AND age < 3", Self.steps(count, "name"), "p\(count)")
        #expect(try context.fetch(request) == [people[0]])
        #expect(try context.count(for: request) == 1)
        request.predicate = NSPredicate(format: "ANY %K.name == %@", Self.steps(count - 1, "boss.reports"), "p\(count - 1)")
        #expect(try context.fetch(request) == [people[0]])
        // * Two paths that share nothing after the first step.
        request.predicate = NSPredicate(format: "age IN {0, 1}")
        request.sortDescriptors = [NSSortDescriptor(key: Self.steps(count, "age"), ascending: false)]
        #expect(try context.fetch(request) == [people[0], people[1]])
        request.sortDescriptors = [NSSortDescriptor(key: Self.steps(count, "age"), ascending: true)]
        #expect(try context.fetch(request) == [people[1], people[0]])
    }

    @Test("is said in SQL as long as SQLite's parser can take it")
    func inSQL() throws {
        let bench = QueryBench()
        func isSQL(_ predicate: NSPredicate) throws -> Bool {
            var query = try bench.query()
            query.predicate = predicate.tree
            return try bench.plan(query).remainder == nil
        }
        func plays(_ depth: Int) -> NSPredicate {
            (0..<depth).reversed().reduce(NSPredicate(format: "plays == 1")) { inner, level in
                let part = NSPredicate(format: "plays > %d", level)
                return level.isMultiple(of: 2)
                    ? NSCompoundPredicate(andPredicateWithSubpredicates: [part, inner])
                    : NSCompoundPredicate(orPredicateWithSubpredicates: [part, inner])
            }
        }
        #expect(try isSQL(plays(20)) && !isSQL(plays(200)))
        let fold = (0..<5_000).reduce(NSPredicate(value: false)) { whole, number in
            NSCompoundPredicate(orPredicateWithSubpredicates: [whole, NSPredicate(format: "plays == %d", number)])
        }
        #expect(try isSQL(fold))
        // * What is beside the deep part still narrows down what is read.
        var query = try bench.query()
        query.predicate =
            NSCompoundPredicate(andPredicateWithSubpredicates: [
                NSPredicate(format: "track == 3"), NSCompoundPredicate(notPredicateWithSubpredicate: plays(200)),
            ]).tree
        let plan = try bench.plan(query)
        #expect(plan.sql.hasSuffix(" WHERE t0.ZTRACK = ?") && plan.remainder != nil)
    }
}
