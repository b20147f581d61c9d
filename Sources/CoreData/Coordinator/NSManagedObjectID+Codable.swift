import Foundation

extension CodingUserInfoKey {
    /// Where a decoder finds the coordinator whose stores the decoded IDs are of.
    ///
    /// ```swift
    /// decoder.userInfo[.persistentStoreCoordinator] = coordinator
    /// ```
    // Any text is a key.
    public static let persistentStoreCoordinator = CodingUserInfoKey(rawValue: "NSPersistentStoreCoordinator")!
}

/// A permanent ID is coded as the text of its URI.
extension NSManagedObjectID: Codable {
    /// - Throws: `EncodingError` for a temporary ID, which means nothing to others.
    public func encode(to encoder: any Encoder) throws {
        guard !isTemporaryID else {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "The ID is temporary. Save its object first, or call obtainPermanentIDs(for:)."
                )
            )
        }
        var container = encoder.singleValueContainer()
        try container.encode(uriRepresentation().absoluteString)
    }

    /// Decodes an ID of a store that is open now; whether the row exists is not looked at.
    ///
    /// - Throws: `DecodingError` where the decoder's `userInfo[.persistentStoreCoordinator]` is missing, or has no store of that ID.
    public convenience init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let coordinator = decoder.userInfo[.persistentStoreCoordinator] as? NSPersistentStoreCoordinator else {
            throw Self.failure(decoder, "Set decoder.userInfo[.persistentStoreCoordinator] to the coordinator that has the store.")
        }
        guard let id = coordinator.managedObjectID(for: text) else {
            throw Self.failure(decoder, "No store of the coordinator has the object \(text).")
        }
        self.init(id.identity)
    }

    private static func failure(_ decoder: any Decoder, _ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
    }
}
