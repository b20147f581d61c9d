import Synchronization

/// What all the IDs of one object share that was asked for its ID while that was temporary: they stay equal, with one hash, when the object
/// becomes permanent.
///
/// IDs hold it, a process-wide register lists it weakly by both keys. Where nobody asks for temporary IDs, it costs the load of a word.
final class IDSuccession: Sendable {
    let temporaryKey: Int64
    private let successor = Lock<RowIdentity?>(nil)

    private init(_ temporaryKey: Int64) { self.temporaryKey = temporaryKey }

    /// The permanent identity, once there is one.
    var permanent: RowIdentity? { successor.withLock { $0 } }

    deinit {
        let permanent = permanent
        Self.register.withLock { register in
            if register.byTemporaryKey[temporaryKey] == address { register.byTemporaryKey[temporaryKey] = nil }
            if let permanent, register.byPermanentIdentity[permanent] == address { register.byPermanentIdentity[permanent] = nil }
        }
        Self.count.subtract(1, ordering: .relaxed)
    }
}

extension IDSuccession {
    /// Addresses of live successions, or of ones whose deinit waits for the lock.
    private struct Register {
        var byTemporaryKey: [Int64: UInt] = [:]
        var byPermanentIdentity: [RowIdentity: UInt] = [:]

        func alive(_ address: UInt?) -> IDSuccession? {
            // Under the lock the memory is there.
            address.flatMap(UnsafeRawPointer.init(bitPattern:)).flatMap { retainIfAlive($0) }
        }
    }

    private var address: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    private static let register = Lock(Register())
    private static let count = Atomic(0)
    private static let succeeded = Atomic(0)

    /// Whether no temporary ID that somebody asked for, or one that came of it, is alive.
    @inline(__always) static var isUnused: Bool { count.load(ordering: .relaxed) == 0 }

    /// Grows with every temporary ID, of those that somebody asked for, whose object becomes permanent.
    static var generation: Int { succeeded.load(ordering: .acquiring) }

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
    static func of(_ permanent: RowIdentity) -> IDSuccession? {
        isUnused ? nil : register.withLock { $0.alive($0.byPermanentIdentity[permanent]) }
    }

    /// An object gets its permanent key; to be called before anybody can ask for the ID that goes with it.
    static func noteSuccessor(of temporaryKey: Int64, _ permanent: RowIdentity) {
        guard temporaryKey < 0 else { return }
        // NB: released outside of the lock, which its deinit takes.
        let succession = register.withLock { register -> IDSuccession? in
            guard let succession = register.alive(register.byTemporaryKey[temporaryKey]) else { return nil }
            succession.successor.withLock { $0 = permanent }
            register.byPermanentIdentity[permanent] = succession.address
            return succession
        }
        if succession != nil { succeeded.add(1, ordering: .releasing) }
        withExtendedLifetime(succession) {}
    }
}
