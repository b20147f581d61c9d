import Foundation
import Testing

@testable import CoreData

#if DEBUG
    @Suite("A debug build")
    struct QueueConfinementTests {
        @Test("stops with the cure where a private context is used off its queue")
        func privateContext() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                context.name = "import"
                _ = try context.fetch(NSFetchRequest<Tag>(entityName: "Tag"))
            }
            #expect(complaint(result).contains("fetch(_:) of import was used off the context's queue. Wrap it in context.performAndWait"))
        }

        @Test("stops with the cure where an object is inserted off the queue")
        func insertion() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let library = try Library()
                _ = Tag(context: library.newContext(.privateQueueConcurrencyType))
            }
            #expect(complaint(result).contains("init(context:) of a context was used off the context's queue."))
        }

        @Test("stops with the cure where an object is read off the queue")
        func reading() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                nonisolated(unsafe) let tag = context.performAndWait { Tag(context: context) }
                _ = tag.label
            }
            #expect(complaint(result).contains("A Tag of a context was used off the context's queue."))
            #expect(complaint(result).contains("hand its objectID to other queues"))
        }

        @Test("stops where an object is written or asked for its state off the queue")
        func writing() async {
            await #expect(processExitsWith: .failure) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                context.performAndWait { Tag(context: context) }.label = "a"
            }
            await #expect(processExitsWith: .failure) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                _ = context.performAndWait { Tag(context: context) }.isInserted
            }
            await #expect(processExitsWith: .failure) {
                let library = try Library()
                let context = library.newContext(.privateQueueConcurrencyType)
                _ = context.performAndWait { Book(context: context) }.tags
            }
        }

        @Test("stops with the cure where a main-queue context is used elsewhere")
        func mainContext() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let library = try Library()
                _ = library.newContext(.mainQueueConcurrencyType).hasChanges
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
