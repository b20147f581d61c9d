import CoreData
import Foundation
import Testing

@Suite("Notifications as a sequence")
struct NotificationSequenceTests {
    private let center = NotificationCenter()
    private let name = Notification.Name("note")

    @Test("come in the order in which they were posted since the loop began, also those that had to wait")
    func order() async {
        var iterator = center.notifications(named: name).makeAsyncIterator()
        for number in 1...3 { center.post(name: name, object: nil, userInfo: ["number": number]) }
        center.post(name: Notification.Name("other"), object: nil)
        center.post(name: name, object: nil, userInfo: ["number": 4])
        var numbers: [Int] = []
        while numbers.count < 4, let number = await iterator.next()?.userInfo?["number"] as? Int { numbers.append(number) }
        #expect(numbers == [1, 2, 3, 4])
    }

    @Test("are those of the object that was named")
    func filtering() async {
        let (wanted, other) = (NSObject(), NSObject())
        var iterator = center.notifications(named: name, object: wanted).makeAsyncIterator()
        center.post(name: name, object: other)
        center.post(name: name, object: wanted)
        #expect(await iterator.next()?.object as? NSObject === wanted)
    }

    @Test("end with their task")
    func cancellation() async {
        let task = Task { [center, name] in
            for await _ in center.notifications(named: name) {}
            return Task.isCancelled
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test("tell of a context's save", arguments: StoreKind.allCases)
    func saves(kind: StoreKind) async throws {
        let library = try Library(kind)
        let id = try await { () async throws -> NSManagedObjectID? in
            var iterator = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidSave, object: library.context)
                .makeAsyncIterator()
            _ = try library.savedBook()
            let inserted = await iterator.next()?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
            return inserted?.first?.objectID
        }()
        #expect(id?.entity.name == "Book" && id?.isTemporaryID == false)
    }
}
