import CoreData
import Foundation
import Testing

@Suite("Releasing the first of a chain of objects")
struct ReleasingTests {
    private static let length = 60_000

    @Test("releases all of it, however long it is, along to-many relationships", arguments: [1, 3])
    func toMany(width: Int) throws {
        let library = try Library(.memory)
        let context = library.context
        var people = (0..<Self.length).map { _ in Person(context: context) }
        for index in 1..<people.count { people[(index - 1) / width * width].reports.insert(people[index]) }
        try context.save()
        people = Array(people.prefix(1))
        #expect(context.registeredObjects.count == Self.length)
        people = []
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("releases all of it on another thread, while others die on this one")
    func threads() throws {
        let library = try Library(.memory)
        let context = library.context
        // Only the releases happen elsewhere.
        nonisolated(unsafe) var chains: [[Person]] = (0..<4).map { _ in
            let people = (0..<5_000).map { _ in Person(context: context) }
            for (boss, report) in zip(people, people.dropFirst()) { boss.reports.insert(report) }
            return people
        }
        try context.save()
        for index in chains.indices { chains[index] = [chains[index][0]] }
        let lock = NSLock()
        DispatchQueue.concurrentPerform(iterations: chains.count) { index in
            nonisolated(unsafe) var chain = lock.withLock { chains[index] }
            lock.withLock { chains[index] = [] }
            chain = []
            _ = chain
        }
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("releases all of it along ordered relationships and transient values")
    func transients() throws {
        let stage = try Stage {
            let link = LibraryModel.entity("Link", NSManagedObject.self, [LibraryModel.attribute("name", .stringAttributeType)])
            let next = LibraryModel.attribute("next", .undefinedAttributeType)
            next.isTransient = true
            link.properties.append(next)
            LibraryModel.relate(link, "after", toMany: true, .nullifyDeleteRule, link, "before", toMany: false, .nullifyDeleteRule)
                .isOrdered = true
            return [link]
        }
        var links = (0..<20_000).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Link", into: stage.context) }
        for index in 1..<links.count {
            if index.isMultiple(of: 2) {
                links[index - 1].setValue(links[index], forKey: "next")
            } else {
                links[index - 1].setValue(NSOrderedSet(object: links[index]), forKey: "after")
            }
        }
        try stage.context.save()
        links = []
        #expect(stage.context.registeredObjects.isEmpty)
    }
}
