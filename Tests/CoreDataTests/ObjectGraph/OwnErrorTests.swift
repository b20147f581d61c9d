import CoreData
import Foundation
import Testing

@Suite("A program's own errors in validation")
struct OwnErrorTests {
    private enum OwnError: Error, Equatable {
        case tooLoud(String)
        case plain
    }

    private let stage: Stage
    private let rules = Guarded.Rules()
    private var context: NSManagedObjectContext { stage.context }

    init() throws {
        Guarded.register()
        stage = try Stage {
            let attributes = ["name", "email"].map { LibraryModel.attribute($0, .stringAttributeType) }
            return [LibraryModel.entity("Owner", Guarded.self, attributes)]
        }
        stage.context.userInfo["rules"] = rules
    }

    @Test("come out of a save as they are, and several of them under 1560, each as it is")
    func ownErrors() throws {
        rules.insert = { throw OwnError.plain }
        let object = Guarded(context: context)
        #expect(throws: OwnError.plain) { try context.save() }
        rules.insert = {}
        rules.value = { value, key in if value as? String == "loud" { throw OwnError.tooLoud(key) } }
        object["name"] = "loud"
        #expect(throws: OwnError.tooLoud("name")) { try context.save() }
        object["email"] = "loud"
        do {
            try context.save()
            Issue.record("The save succeeded.")
        } catch {
            let error = error as NSError
            let all = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
            #expect(error.code == NSValidationMultipleErrorsError && all.count == 2)
            #expect(all.contains { $0 as? OwnError == .tooLoud("name") } && all.contains { $0 as? OwnError == .tooLoud("email") })
        }
        rules.value = { _, _ in }
        try context.save()
        rules.update = { throw OwnError.plain }
        object["name"] = "quiet"
        #expect(throws: OwnError.plain) { try context.save() }
        rules.delete = { throw OwnError.tooLoud("delete") }
        context.delete(object)
        #expect(throws: OwnError.tooLoud("delete")) { try context.save() }
    }

    @Test("come out of a child's save as they are")
    func ownErrorInChild() throws {
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        child.userInfo["rules"] = rules
        rules.insert = { throw OwnError.plain }
        let object = Guarded(context: child)
        (object["name"], object["email"]) = ("N", "E")
        #expect(throws: OwnError.plain) { try child.save() }
        // * Only the parent's copy refuses.
        child.userInfo["rules"] = nil
        try child.save()
        #expect(throws: OwnError.plain) { try context.save() }
    }
}
