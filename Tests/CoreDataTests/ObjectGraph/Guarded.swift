import CoreData
import Foundation

/// A class with rules of its own, which a test sets in the context's `userInfo`.
final class Guarded: NSManagedObject {
    final class Rules {
        var value: (inout Any?, String) throws -> Void = { _, _ in }
        var insert: () throws -> Void = {}
        var update: () throws -> Void = {}
        var delete: () throws -> Void = {}
        var calls: [String] = []
    }
    private var rules: Rules? { managedObjectContext?.userInfo["rules"] as? Rules }

    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        try super.validateValue(&value, forKey: key)
        try rules?.value(&value, key)
    }
    override func validateForInsert() throws {
        rules?.calls.append("insert")
        try combining({ try super.validateForInsert() }, rules?.insert)
    }
    override func validateForUpdate() throws {
        rules?.calls.append("update")
        try combining({ try super.validateForUpdate() }, rules?.update)
    }
    override func validateForDelete() throws {
        rules?.calls.append("delete")
        try combining({ try super.validateForDelete() }, rules?.delete)
    }

    private func combining(_ first: () throws -> Void, _ second: (() throws -> Void)?) throws {
        var errors: [any Error] = []
        do { try first() } catch { errors.append(error) }
        do { try second?() } catch { errors.append(error) }
        guard let error = errors.first else { return }
        if errors.count == 1 { throw error }
        let all = errors.flatMap { (($0 as NSError).userInfo[NSDetailedErrorsKey] as? [any Error]) ?? [$0] }
        throw NSError(domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError, userInfo: [NSDetailedErrorsKey: all])
    }
}
