extension NSPersistentStoreCoordinator {
    /// Adds the store that a description asks for, and calls `block` with the description, and the error where there is none.
    ///
    /// `block` is called once: before this returns, unless `shouldAddStoreAsynchronously` is set. It is called later then: on the main queue for
    /// a caller on it, otherwise on a background queue. Errors are those of `addPersistentStore(ofType:configurationName:at:options:)`.
    public func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let isLater = storeDescription.shouldAddStoreAsynchronously
        addStore(storeDescription, isLater: isLater) { block(storeDescription, $0.failure) }
    }

    /// The same with the store as the answer. `prepare` runs right before the store is opened, on the same queue.
    func addStore(
        _ description: NSPersistentStoreDescription,
        isLater: Bool,
        preparing prepare: @escaping () throws -> Void = {},
        _ completion: @escaping (Result<NSPersistentStore, any Error>) -> Void
    ) {
        let addition = StoreAddition(to: self, description, prepare, completion)
        guard isLater else { return addition.completion(addition.run()) }
        let answersOnMain = MainQueue.isCurrent
        additions.async {
            let result = StoreAddition.Outcome(result: addition.run())
            guard answersOnMain else { return addition.completion(result.result) }
            DispatchQueue.main.async { addition.completion(result.result) }
        }
    }
}

/// A store on its way to its coordinator: what its description said when it was asked for.
// Sendable: one queue after the other uses it, each once.
private struct StoreAddition: @unchecked Sendable {
    private let coordinator: NSPersistentStoreCoordinator
    private let (type, configuration, url): (String, String?, URL?)
    private let options: [String: NSObject]
    private let prepare: () throws -> Void
    let completion: (Result<NSPersistentStore, any Error>) -> Void

    init(
        to coordinator: NSPersistentStoreCoordinator,
        _ description: NSPersistentStoreDescription,
        _ prepare: @escaping () throws -> Void,
        _ completion: @escaping (Result<NSPersistentStore, any Error>) -> Void
    ) {
        self.coordinator = coordinator
        (type, configuration, url) = (description.type, description.configuration, description.url)
        options = description.options
        self.prepare = prepare
        self.completion = completion
    }

    func run() -> Result<NSPersistentStore, any Error> {
        Result {
            try prepare()
            return try coordinator.addPersistentStore(ofType: type, configurationName: configuration, at: url, options: options)
        }
    }

    /// A result on its way to another queue.
    // Sendable: only that queue uses it.
    struct Outcome: @unchecked Sendable {
        let result: Result<NSPersistentStore, any Error>
    }
}

extension Result {
    /// The error, if it is one.
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
