extension Result where Failure == any Error {
    /// Gets the value or throws the error, which only `block` can have thrown: so the caller may say `rethrows`.
    func rethrown<Ignored>(by block: () throws -> Ignored) rethrows -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let error):
            return try withoutActuallyEscaping(block) { block in
                func go(_ body: () throws -> Ignored, _ error: any Error) throws -> Success { throw error }
                return try go(block, error)
            }
        }
    }
}
