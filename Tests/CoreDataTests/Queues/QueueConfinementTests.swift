import Foundation
import Testing

@testable import CoreData

#if DEBUG
    @Suite("A debug build")
    struct QueueConfinementTests {
        @Test("stops with the cure where a private context is changed off its queue")
        func privateContext() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                context.name = "import"
                try context.save()
            }
            #expect(complaint(result).contains("save() of import was used off the context's queue. Wrap it in context.performAndWait"))
        }

        @Test("stops with the cure where an object is inserted off the queue")
        func insertion() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let library = try Library()
                _ = Tag(context: library.newContext(.privateQueueConcurrencyType))
            }
            #expect(complaint(result).contains("init(context:) of a context was used off the context's queue."))
        }

        @Test("logs a read off the queue, once a place, with the cure and how to choose, and goes on")
        func reading() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                context.name = "idle"
                nonisolated(unsafe) let tag = context.performAndWait { Tag(context: context) }
                context.performAndWait { tag.label = "a" }
                for _ in 0..<10 { try #require(tag.label == "a") }
                for _ in 0..<10 { try #require(context.insertedObjects == [tag]) }
                try #require(context.fetch(NSFetchRequest<Tag>(entityName: "Tag")) == [tag])
            }
            let lines = complaint(result).split(separator: "\n")
            let reads = lines.filter { $0.contains("A Tag of idle was read off the context's queue.") }
            #expect(reads.count == 1 && reads.first?.contains("hand its objectID to other queues") == true)
            #expect(reads.first?.contains("COREDATA_CONCURRENCYDEBUG=trap|log|off") == true)
            let lists = lines.filter { $0.contains("insertedObjects of idle was used off the context's queue. Wrap it in") }
            #expect(lists.count == 1 && lines.contains { $0.contains("fetch(_:) of idle was used off") })
        }

        @Test("fills faults and reads relationships off the queue, and logs it, once it is to go on")
        func readingFaults() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let library = try Library()
                let book = try library.savedBook()
                Tag(context: library.context).books = [book]
                try library.context.save()
                let context = library.newContext(.privateQueueConcurrencyType)
                nonisolated(unsafe) let other = context.performAndWait { context.object(with: book.objectID) }
                try #require(other.isFault && (other as? Book)?.title == "T" && !other.isFault)
                try #require((other.value(forKey: "tags") as? Set<Tag>)?.count == 1)
            }
            #expect(complaint(result).contains("A Book of a context was read off the context's queue."))
        }

        @Test("stops at a read where COREDATA_CONCURRENCYDEBUG says trap", arguments: ["trap", "1"])
        func strict(setting: String) async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [setting = setting as String] in
                setenv("COREDATA_CONCURRENCYDEBUG", setting, 1)
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                nonisolated(unsafe) let tag = context.performAndWait { Tag(context: context) }
                _ = tag.label
            }
            #expect(complaint(result).contains("A Tag of a context was read off the context's queue."))
        }

        @Test("goes on at a change where COREDATA_CONCURRENCYDEBUG says log or off", arguments: ["log", "off", "0"])
        func lenient(setting: String) async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [setting = setting as String] in
                setenv("COREDATA_CONCURRENCYDEBUG", setting, 1)
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                nonisolated(unsafe) let tag = context.performAndWait { Tag(context: context) }
                tag.label = "a"
                try context.save()
            }
            #expect(complaint(result).contains("A Tag of a context was changed off the context's queue.") == (setting == "log"))
        }

        @Test("stops where an attribute, a relationship or a primitive value is changed off the queue")
        func writing() async {
            await #expect(processExitsWith: .failure) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                context.performAndWait { Tag(context: context) }.label = "a"
            }
            await #expect(processExitsWith: .failure) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                context.performAndWait { Tag(context: context) }.setPrimitiveValue("a", forKey: "label")
            }
            await #expect(processExitsWith: .failure) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                let (book, tag) = context.performAndWait { (Book(context: context), Tag(context: context)) }
                book.mutableSetValue(forKey: "tags").add(tag)
            }
        }

        @Test("stops with the cure where a main-queue context is used elsewhere")
        func mainContext() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let library = try Library()
                library.newContext(.mainQueueConcurrencyType).rollback()
            }
            #expect(complaint(result).contains("or use it on the main actor"))
        }

        @Test("stops where a context is set up after its first object")
        func lateSetUp() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                context.stalenessInterval = 1
                context.performAndWait { _ = Tag(context: context) }
                context.stalenessInterval = 2
            }
            #expect(complaint(result).contains("stalenessInterval of a context was used off the context's queue."))
        }

        @Test("leaves set-up, identity and descriptions alone, wherever they are used")
        func exempt() throws {
            let library = try Library()
            let context = library.newContext(.privateQueueConcurrencyType)
            context.transactionAuthor = "a"
            context.retainsRegisteredObjects = true
            context.propagatesDeletesAtEndOfEvent = false
            context.shouldDeleteInaccessibleFaults = false
            let tag = context.performAndWait { Tag(context: context) }
            let id = context.performAndWait { tag.objectID }
            context.name = "exempt"
            context.mergePolicy = NSMergePolicy.overwrite
            context.userInfo["a"] = 1
            #expect(context.persistentStoreCoordinator === library.coordinator && context.concurrencyType == .privateQueueConcurrencyType)
            #expect(tag.objectID == id && tag.managedObjectContext === context && tag.entity.name == "Tag" && Set([tag]).contains(tag))
            #expect(tag.description.contains("on the queue of its context"))
            #expect(!tag.isFault && tag.isInserted && !tag.isUpdated && !tag.isDeleted && tag.hasChanges && tag.faultingState == 0)
            try context.performAndWait { try context.save() }
            #expect(!tag.objectID.isTemporaryID && tag.objectID == context.performAndWait { tag.objectID })
        }

        @Test("lets a confined context and its objects be used on any thread, and its blocks run")
        func confined() throws {
            let library = try Library()
            let context = library.newContext(.confinementConcurrencyType)
            let tag = Tag(context: context)
            context.performAndWait { tag.label = "a" }
            #expect(tag.label == "a" && context.hasChanges)
        }

        @Test("lets code on the main actor use a main-queue context and its objects without blocks")
        @MainActor func onMain() throws {
            let library = try Library()
            let context = library.newContext(.mainQueueConcurrencyType)
            let tag = Tag(context: context)
            tag.label = "a"
            try context.save()
            #expect(try context.fetch(NSFetchRequest<Tag>(entityName: "Tag")).first === tag)
        }
    }
#endif
