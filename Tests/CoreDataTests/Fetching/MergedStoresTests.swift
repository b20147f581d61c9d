import CoreData
import Foundation
import Testing

/// An object that counts how often a value is read by name.
final class CountedNote: NSManagedObject {
    final class Reads {
        var count = 0
    }

    override func value(forKey key: String) -> Any? {
        (managedObjectContext?.userInfo["reads"] as? Reads)?.count += 1
        return super.value(forKey: key)
    }
}

@Suite("The ordered results of several stores")
struct MergedStoresTests {
    private let context: NSManagedObjectContext
    private let stores: [NSPersistentStore]
    private let reads = CountedNote.Reads()

    init() throws {
        let model = NSManagedObjectModel()
        model.entities = [
            LibraryModel.entity(
                "Note",
                CountedNote.self,
                [LibraryModel.attribute("number", .integer64AttributeType), LibraryModel.attribute("text", .stringAttributeType)]
            )
        ]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        stores = try (0..<3).map { _ in
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    private func makeNotes(_ count: Int) throws {
        for number in 0..<count {
            let note = CountedNote(context: context)
            note["number"] = number * 7919 % count
            note["text"] = "\(number % 3)"
            context.assign(note, to: stores[number % stores.count])
        }
        try context.save()
    }

    private func request(_ descriptors: [NSSortDescriptor]) -> NSFetchRequest<CountedNote> {
        let request = NSFetchRequest<CountedNote>(entityName: "Note")
        request.sortDescriptors = descriptors
        return request
    }

    @Test("are merged: each object is compared a few times, not sorted again")
    func work() throws {
        let count = 1_200
        try makeNotes(count)
        context.userInfo["reads"] = reads
        let notes = try context.fetch(request([NSSortDescriptor(key: "number", ascending: true)]))
        #expect(reads.count < 6 * count)
        context.userInfo["reads"] = nil
        #expect(notes.map { $0["number"] as? Int } == (0..<count).map { $0 })
    }

    @Test("are in order, within limit and offset, with a predicate that only memory knows, and with equal values by store")
    func order() throws {
        try makeNotes(90)
        let byNumber = NSSortDescriptor(key: "number", ascending: false)
        var request = request([byNumber])
        (request.fetchLimit, request.fetchOffset) = (5, 40)
        #expect(try context.fetch(request).map { $0["number"] as? Int } == [49, 48, 47, 46, 45])
        request.predicate = NSPredicate { object, _ in ((object as? NSManagedObject)?.value(forKey: "number") as? Int ?? 0) % 2 == 0 }
        #expect(try context.fetch(request).map { $0["number"] as? Int } == [8, 6, 4, 2, 0])
        request = self.request([NSSortDescriptor(key: "text", ascending: true), byNumber])
        let texts = try context.fetch(request).map { $0["text"] as? String ?? "" }
        #expect(texts == texts.sorted())
        request = self.request([NSSortDescriptor(key: "text", ascending: true) { _, _ in .orderedSame }])
        #expect(try context.fetch(request).count == 90)
    }

    // * What is sorted by is changed in the context, and by others after the context has read it.
    // => The order is that of the values in the stores, within limit and offset too.
    @Test("are in the order of what is stored, whatever the context shows that does not count", arguments: [true, false])
    func storedOrder(isUnsaved: Bool) throws {
        try makeNotes(12)
        let byNumber = NSSortDescriptor(key: "number", ascending: true)
        let notes = try context.fetch(request([byNumber]))
        let writing = isUnsaved ? context : NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        if !isUnsaved { writing.persistentStoreCoordinator = context.persistentStoreCoordinator }
        for (number, note) in notes.enumerated() { writing.object(with: note.objectID).setValue(100 - number * 7 % 12, forKey: "number") }
        if !isUnsaved { try writing.save() }
        let request = request([byNumber])
        request.includesPendingChanges = !isUnsaved
        let expected = isUnsaved ? notes : notes.enumerated().sorted { 100 - $0.offset * 7 % 12 < 100 - $1.offset * 7 % 12 }.map(\.element)
        #expect(try context.fetch(request) == expected)
        (request.fetchLimit, request.fetchOffset) = (3, 2)
        #expect(try context.fetch(request) == Array(expected[2..<5]))
        withExtendedLifetime(writing) {}
    }

    @Test(
        "are in the order of every comparison, nil first, as one store gives it",
        arguments: [
            nil, "caseInsensitiveCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:", "localizedStandardCompare:",
        ] as [String?],
        [true, false]
    )
    func selectors(selector: String?, ascending: Bool) throws {
        let texts = ["file10", "file9", nil, "Äpfel", "apfel", "Zebra", "zebra", "", "Apfel"]
        for (number, text) in texts.enumerated() {
            let note = CountedNote(context: context)
            (note["number"], note["text"]) = (number, text)
            context.assign(note, to: stores[number % stores.count])
        }
        try context.save()
        let byText = NSSortDescriptor(key: "text", ascending: ascending, selector: selector.map { Selector($0) })
        let request = request([byText, NSSortDescriptor(key: "number", ascending: true)])
        let expected = texts.indices.sorted { left, right in
            let order = Self.compare(texts[left], texts[right], selector)
            return order == .orderedSame ? left < right : order == (ascending ? .orderedAscending : .orderedDescending)
        }
        #expect(try context.fetch(request).map { $0["number"] as? Int } == expected)
        (request.fetchLimit, request.fetchOffset) = (3, 2)
        #expect(try context.fetch(request).map { $0["number"] as? Int } == Array(expected[2..<5]))
    }

    private static func compare(_ left: String?, _ right: String?, _ selector: String?) -> ComparisonResult {
        guard let left, let right else { return left == right ? .orderedSame : left == nil ? .orderedAscending : .orderedDescending }
        switch selector {
        case "caseInsensitiveCompare:": return PlainOrder.order(.text(left), .text(right), "c") ?? .orderedSame
        case "localizedCompare:": return left.localizedCompare(right)
        case "localizedCaseInsensitiveCompare:": return left.localizedCaseInsensitiveCompare(right)
        case "localizedStandardCompare:": return left.localizedStandardCompare(right)
        default: return PlainOrder.order(.text(left), .text(right)) ?? .orderedSame
        }
    }
}
