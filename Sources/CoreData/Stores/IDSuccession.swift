import CShims
import Synchronization

/// What all the IDs of one object share that was asked for its ID while that was temporary: they stay equal, with one hash, when the object
/// becomes permanent.
///
/// IDs hold it, a process-wide register lists it weakly by both keys. Where nobody asks for temporary IDs, it costs the load of a word.
final class IDSuccession: Sendable {
    let temporaryKey: Int64
    private let successor = Lock<(reference: RowReference, space: IDSpace)?>(nil)

    private init(_ temporaryKey: Int64) { self.temporaryKey = temporaryKey }

    /// The permanent identity, once there is one.
    var permanent: (reference: RowReference, space: IDSpace)? { successor.withLock { $0 } }

    deinit {
        let place = permanent.map { Place($0.reference.key, $0.space) }
        Self.register.withLock { register in
            if register.byTemporaryKey[temporaryKey] == address { register.byTemporaryKey[temporaryKey] = nil }
            if let place, register.byPlace[place] == address { register.byPlace[place] = nil }
        }
        Self.count.subtract(1, ordering: .relaxed)
    }
}

extension IDSuccession {
    /// A row, in whichever coordinator.
    private struct Place: Hashable {
        let key: Int64
        let root: Int
        let store: String?

        init(_ key: Int64, _ space: IDSpace) { (self.key, root, store) = (key, space.root, space.storeIdentifier) }
    }

    /// Addresses of live successions, or of ones whose deinit waits for the lock.
    private struct Register {
        var byTemporaryKey: [Int64: UInt] = [:]
        var byPlace: [Place: UInt] = [:]

        func alive(_ address: UInt?) -> IDSuccession? {
            // Under the lock the memory is there; what is being released cannot be retained any more.
            guard let address, let pointer = UnsafeRawPointer(bitPattern: address), cd_tryRetain(pointer) != nil else { return nil }
            return Unmanaged<IDSuccession>.fromOpaque(pointer).takeRetainedValue()
        }
    }

    private var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    private static let register = Lock(Register())
    private static let count = Atomic(0)

    /// Whether no temporary ID that somebody asked for, or one that came of it, is alive.
    @inline(__always) static var isUnused: Bool { count.load(ordering: .relaxed) == 0 }

    /// For a temporary ID that is being made.
    static func of(temporaryKey: Int64) -> IDSuccession {
        register.withLock { register in
            if let known = register.alive(register.byTemporaryKey[temporaryKey]) { return known }
            let made = IDSuccession(temporaryKey)
            register.byTemporaryKey[temporaryKey] = made.address
            count.add(1, ordering: .relaxed)
            return made
        }
    }

    /// For a permanent ID that is being made.
    static func of(_ reference: RowReference, _ space: IDSpace) -> IDSuccession? {
        isUnused ? nil : register.withLock { $0.alive($0.byPlace[Place(reference.key, space)]) }
    }

    /// An object gets its permanent key; to be called before anybody can ask for the ID that goes with it.
    static func settle(_ temporaryKey: Int64, as reference: RowReference, in space: IDSpace) {
        guard temporaryKey < 0 else { return }
        // NB: released outside of the lock, which its deinit takes.
        let settled = register.withLock { register -> IDSuccession? in
            guard let succession = register.alive(register.byTemporaryKey[temporaryKey]) else { return nil }
            succession.successor.withLock { $0 = (reference, space) }
            register.byPlace[Place(reference.key, space)] = succession.address
            return succession
        }
        withExtendedLifetime(settled) {}
    }
}
