import Foundation

extension MappingModel {
    /// The file in an `.xcmappingmodel` that was built: the version hashes of the entities of both models.
    public static let hashesFile = "VersionHashes.plist"

    /// What tells the versions that a mapping model is between.
    public struct Hashes: Sendable, Equatable {
        public var source: [String: Data]
        public var destination: [String: Data]

        public init(source: [String: Data], destination: [String: Data]) { (self.source, self.destination) = (source, destination) }

        /// - Throws: `ModelFormatError` with the file, where it is no such list.
        public init(file: URL) throws {
            let data = try content(of: file)
            self = try inFile(file) {
                guard let list = try? PropertyListDecoder().decode([String: [String: Data]].self, from: data),
                    let source = list["source"], let destination = list["destination"]
                else { throw ModelFormatError(nil, "the file holds no version hashes of a source and a destination") }
                return Hashes(source: source, destination: destination)
            }
        }

        public func data() throws -> Data {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .xml
            return try encoder.encode(["source": source, "destination": destination])
        }
    }
}
