import Foundation

/// Names a query generation: the state that the stores of a coordinator had at one moment.
///
/// `current` is what a context is given to be pinned. The context's `queryGenerationToken` names its generation, and pins other contexts of
/// the coordinator to exactly the same one. The generation lasts as long as a context reads it or somebody has such a token. Equal tokens name
/// the same generation.
///
/// An archived token stands for its generation in this process, and as long as that lasts.
///
/// > Concurrency: may be used from any thread.
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Sendable: immutable.
    enum Meaning {
        /// Whatever is there when a context first reads.
        case current
        case generation(QueryGeneration)
        /// Of one that has ended.
        case ended(UUID)
    }

    let meaning: Meaning

    init(_ meaning: Meaning) {
        self.meaning = meaning
        super.init()
    }

    private static let currentGeneration = NSQueryGenerationToken(.current)

    /// Stands for the generation that is the newest when a context which was given it first reads.
    open class var current: NSQueryGenerationToken { currentGeneration }

    open override func isEqual(_ object: Any?) -> Bool { (object as? NSQueryGenerationToken).map { $0.id == id } ?? false }
    open override var hash: Int { id.hashValue }
    open override var description: String { "<NSQueryGenerationToken: \(id?.uuidString ?? "current")>" }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open class var supportsSecureCoding: Bool { true }

    private static let key = "NSGeneration"

    /// Nil where the archive has something else in its place.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.key).map(String.init(describing:)) else { return nil }
        if text == "current" {
            meaning = .current
        } else {
            guard let id = UUID(uuidString: text) else { return nil }
            meaning = QueryGeneration.archived(id).map(Meaning.generation) ?? .ended(id)
        }
        super.init()
    }

    open func encode(with coder: NSCoder) {
        if case .generation(let generation) = meaning { generation.noteArchived() }
        coder.encode((id?.uuidString ?? "current") as NSString, forKey: Self.key)
    }

    /// Nil for `current`.
    private var id: UUID? {
        switch meaning {
        case .current: nil
        case .generation(let generation): generation.id
        case .ended(let id): id
        }
    }
}
