import Testing

@testable import CoreData

@Suite("A delete in a child context")
struct LayeredDeleteTests {
    private enum Step: Int, CaseIterable {
        case read, edit, save, saveParent, editAbove, refresh, refreshAbove, editBeside
    }

    /// A book that is in a store, in a context on the store, and in a child of that.
    private final class Layers {
        let parent: NSManagedObjectContext
        let child: NSManagedObjectContext
        let beside: NSManagedObjectContext
        let home: ContractHome
        let id: NSManagedObjectID
        private var edits = 0

        init(_ home: ContractHome, isWrittenHere: Bool, policy: NSMergePolicy) throws {
            self.home = home
            let writer = try home.open()
            parent = try isWrittenHere ? writer : home.context(on: #require(writer.persistentStoreCoordinator))
            let book = Book(context: writer)
            (book.title, book.pages) = ("first", 1)
            try writer.save()
            id = book.objectID
            parent.mergePolicy = policy
            (child, beside) = (Self.child(of: parent), Self.child(of: parent))
        }

        private static func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
            let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            child.parent = parent
            return child
        }

        private func book(_ context: NSManagedObjectContext) throws -> Book { try #require(context.object(with: id) as? Book) }

        private func edit(_ context: NSManagedObjectContext) throws {
            edits += 1
            try book(context).title = "edit \(edits)"
        }

        func take(_ step: Step) throws {
            switch step {
            case .read: _ = try book(child).title
            case .edit: try edit(child)
            case .save: try child.save()
            case .saveParent: try parent.save()
            case .editAbove: try edit(parent)
            case .refresh: try child.refresh(book(child), mergeChanges: false)
            case .refreshAbove: try parent.refresh(book(parent), mergeChanges: false)
            case .editBeside:
                try edit(beside)
                try beside.save()
            }
        }

        func delete() throws {
            try child.delete(book(child))
            try child.save()
            try parent.save()
        }

        func close() throws {
            let coordinator = try #require(parent.persistentStoreCoordinator)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }

        var isGone: Bool {
            get throws { try home.context(on: #require(parent.persistentStoreCoordinator)).all(Book.self).isEmpty }
        }
    }

    private static func sequences(_ length: Int) -> [[Step]] {
        length == 0 ? [[]] : sequences(length - 1).flatMap { start in Step.allCases.map { start + [$0] } }
    }

    @Test("reaches the store, whatever was read, changed and saved before", arguments: [ContractKind.file, .dictionary], [true, false])
    func delete(_ kind: ContractKind, _ isWrittenHere: Bool) throws {
        let home = try ContractHome(kind)
        for policy in [NSMergePolicy.error, .mergeByPropertyStoreTrump] {
            for steps in Self.sequences(3) {
                let layers = try Layers(home, isWrittenHere: isWrittenHere, policy: policy)
                do {
                    for step in steps { try layers.take(step) }
                    try layers.delete()
                    #expect(try layers.isGone, "\(policy.mergeType) after \(steps)")
                } catch {
                    Issue.record("\(policy.mergeType) after \(steps): \(error)")
                }
                try layers.close()
            }
        }
    }
}
