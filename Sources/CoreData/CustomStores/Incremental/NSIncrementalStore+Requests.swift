import Foundation

/// Requests that the framework hands on as they are, and hooks that only a class which overrides them is called for.
extension NSIncrementalStore {
    package func execute(_ request: NSPersistentStoreRequest, for context: AnyObject) throws -> Any {
        guard let context = context as? NSManagedObjectContext else { throw closed }
        let call = try HookCall(of: self)
        // Which rows a batch has changed, the class does not say.
        defer { if request.isBatch { call.cache.forgetAll() } }
        return try answer(request, context)
    }

    /// What the class answers.
    func answer(_ request: NSPersistentStoreRequest, _ context: NSManagedObjectContext) throws -> Any {
        try hooks.withLock { try execute(request, with: context) }
    }

    /// Asks the class to save.
    func write(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext) throws {
        try hooks.withLock {
            isWriting = true
            defer { isWriting = false }
            _ = try execute(request, with: context)
        }
    }

    package var followsUse: Bool { UseProbe.overrides(Swift.type(of: self)) }
    package func contextDidBegin(using ids: [NSManagedObjectID]) { managedObjectContextDidRegisterObjects(with: ids) }
    package func contextDidEnd(using ids: [NSManagedObjectID]) { managedObjectContextDidUnregisterObjects(with: ids) }
}

extension NSPersistentStoreRequest {
    fileprivate var isBatch: Bool {
        switch requestType {
        case .batchInsertRequestType, .batchUpdateRequestType, .batchDeleteRequestType: true
        case .fetchRequestType, .saveRequestType: false
        }
    }
}

/// Whether a class wants to know which of its objects contexts have.
private enum UseProbe {
    private class Plain: NSIncrementalStore {}

    private class Registering: NSIncrementalStore {
        override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}
    }

    private class Unregistering: NSIncrementalStore {
        override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}
    }

    private static let entries = [Registering.self, Unregistering.self].map {
        OverrideProbe.entry(of: $0, beside: Plain.self, below: NSIncrementalStore.self)
    }

    static func overrides(_ storeClass: NSIncrementalStore.Type) -> Bool {
        entries.contains { OverrideProbe.overrides($0, storeClass, below: NSIncrementalStore.self) }
    }
}
