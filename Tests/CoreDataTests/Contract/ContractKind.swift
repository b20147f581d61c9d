import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import ExampleStores

/// The kinds of stores that keep the contract, with what each says it cannot do.
enum ContractKind: String, CaseIterable, CustomTestStringConvertible {
    case file, memory, binary, xml, csv, dictionary

    var testDescription: String { rawValue }

    var type: String {
        switch self {
        case .file: NSSQLiteStoreType
        case .memory: NSInMemoryStoreType
        case .binary: NSBinaryStoreType
        case .xml: NSXMLStoreType
        case .csv: CSVStore.storeType
        case .dictionary: DictionaryStore.storeType
        }
    }

    /// What stores of the kind say that they can. The suite checks both: that they say it, and that they can, and cannot what is missing here.
    var capabilities: StoreCapabilities {
        switch self {
        case .file: Self.database.union([.durable, .generations])
        case .memory: Self.database
        case .binary, .xml: Self.atomic.union(.schemaMigration)
        case .csv: Self.atomic
        case .dictionary: [.ownReferences, .rowsOnDemand, .durable, .ownRequests]
        }
    }

    private static let database: StoreCapabilities = [
        .sql, .constraints, .severalProcesses, .batch, .schemaMigration, .transactions, .emptying, .positions,
    ]
    private static let atomic: StoreCapabilities = [.constraints, .positions, .ownReferences, .durable]

    static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: CSVStore.storeType)
        NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: DictionaryStore.storeType)
    }
}

/// A store of one kind, with as many coordinators on it as a test wants.
final class ContractHome {
    let kind: ContractKind
    let model: NSManagedObjectModel
    let url: URL
    let folder: TemporaryFolder

    init(_ kind: ContractKind, model: NSManagedObjectModel = LibraryModel.make()) throws {
        ContractKind.register()
        (self.kind, self.model) = (kind, model)
        folder = try TemporaryFolder()
        url = kind == .memory ? URL(string: "file:///\(UUID().uuidString)?vfs=memdb")! : folder.file("Store.\(kind)")
    }

    /// A new coordinator, and a context on it.
    func open() throws -> NSManagedObjectContext { try context(on: coordinator()) }

    func coordinator(
        _ other: NSManagedObjectModel? = nil,
        configuration: String? = nil,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other ?? model)
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: configuration, at: url, options: options)
        return coordinator
    }

    func context(on coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Whether the store can do what a test is about: what it says must be what the list of kinds says.
    func can(_ capability: StoreCapabilities, _ context: NSManagedObjectContext, sourceLocation: SourceLocation = #_sourceLocation) -> Bool
    {
        let says = context.persistentStoreCoordinator?.allStores.first?.capabilities.contains(capability)
        let listed = kind.capabilities.contains(capability)
        #expect(says == listed, "\(kind) says otherwise than the list of kinds", sourceLocation: sourceLocation)
        return says == true
    }

    /// Skips the test where the store cannot do what it is about, by the name of that.
    func require(
        _ capability: StoreCapabilities,
        _ name: String,
        _ context: NSManagedObjectContext,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        guard !can(capability, context, sourceLocation: sourceLocation) else { return }
        try Test.cancel("a store of kind \(kind) has not the capability \(name)", sourceLocation: sourceLocation)
    }

    /// Another coordinator on what was saved, after the first has let go of it; a store that is not durable is read by a second one instead.
    func reopened(_ context: NSManagedObjectContext) throws -> NSManagedObjectContext {
        guard can(.durable, context), let coordinator = context.persistentStoreCoordinator else { return try open() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return try open()
    }
}

extension NSManagedObjectContext {
    func all<Object: NSManagedObject>(_ type: Object.Type, where format: String? = nil, sortedBy key: String? = nil) throws -> [Object] {
        let request = NSFetchRequest<Object>(entityName: "\(type)")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }
}
