import Foundation
import TestSupport

extension Run {
    /// Runs the built `coredata` command to its end.
    init(_ arguments: String...) async throws { try await self.init(arguments) }

    init(_ arguments: [String]) async throws { try await self.init(Places.products.appendingPathComponent("coredata"), arguments) }
}
